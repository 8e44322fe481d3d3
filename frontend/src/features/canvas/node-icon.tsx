import {
  IconApi,
  IconArrowsJoin2,
  IconBinaryTree,
  IconCloudDownload,
  IconColumns3,
  IconDatabase,
  IconDatabaseImport,
  IconFile,
  IconFileDatabase,
  IconFiles,
  IconFilter,
  IconGitMerge,
  IconMathFunction,
  IconNumbers,
  IconPrinter,
  IconPuzzle,
  IconSql,
  IconSum,
  IconTable,
  IconWebhook,
  IconWorldDownload,
  type Icon,
} from '@tabler/icons-react'

/** Tabler's names as node types state them; others are drawn as a puzzle piece. */
const ICONS: Record<string, Icon> = {
  api: IconApi,
  'arrows-join-2': IconArrowsJoin2,
  'binary-tree': IconBinaryTree,
  'cloud-download': IconCloudDownload,
  'columns-3': IconColumns3,
  columns: IconColumns3,
  database: IconDatabase,
  'database-import': IconDatabaseImport,
  file: IconFile,
  'file-database': IconFileDatabase,
  files: IconFiles,
  filter: IconFilter,
  'git-merge': IconGitMerge,
  'math-function': IconMathFunction,
  numbers: IconNumbers,
  printer: IconPrinter,
  sql: IconSql,
  sum: IconSum,
  table: IconTable,
  webhook: IconWebhook,
  'world-download': IconWorldDownload,
}

export function NodeIcon({ name, size }: { name: string; size: number }) {
  const Shape = ICONS[name.replace(/^(Icon|tabler-)/, '').toLowerCase()] ?? IconPuzzle
  return <Shape size={size} stroke={1.75} />
}
