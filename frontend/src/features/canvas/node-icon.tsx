import {
  IconApi,
  IconArrowsJoin,
  IconCircleOff,
  IconClockHour4,
  IconColumns,
  IconDatabase,
  IconDatabaseExport,
  IconDatabaseImport,
  IconFileDownload,
  IconFileText,
  IconFilter,
  IconMathFunction,
  IconNumber123,
  IconPlugX,
  IconPuzzle,
  IconSql,
  IconTerminal2,
  IconTopologyStar3,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react'

/** Tabler's names as node types state them; another package's unknown icon is drawn as a puzzle piece. */
const ICONS: Record<string, Icon> = {
  api: IconApi,
  'arrows-join': IconArrowsJoin,
  'circle-off': IconCircleOff,
  'clock-hour-4': IconClockHour4,
  columns: IconColumns,
  database: IconDatabase,
  'database-export': IconDatabaseExport,
  'database-import': IconDatabaseImport,
  'file-download': IconFileDownload,
  'file-text': IconFileText,
  filter: IconFilter,
  'math-function': IconMathFunction,
  'number-123': IconNumber123,
  'plug-off': IconPlugX,
  sql: IconSql,
  'terminal-2': IconTerminal2,
  'topology-star-3': IconTopologyStar3,
  webhook: IconWebhook,
}

export function NodeIcon({ name, size }: { name: string; size: number }) {
  const Shape = ICONS[name] ?? IconPuzzle
  return <Shape size={size} stroke={1.75} />
}
