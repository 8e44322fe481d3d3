import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { clock } from '../times'
import type { MarkGroup } from './mark-places'

/** The words of marks over the plot; what is cut or gathered is whole in the tooltip. */
export function ChartMarks({ groups }: { groups: readonly MarkGroup[] }) {
  const { t } = useTranslation('shared')
  return groups.map(({ marks, x, leftward, room }) => (
    <Tooltip
      key={marks[0]?.at}
      label={marks.map((mark) => (
        <div key={`${mark.at}${mark.words}`}>
          {clock(mark.at)} {mark.words}
        </div>
      ))}
    >
      <span className="pw-chart-mark" data-leftward={leftward || undefined} style={{ left: x, maxWidth: room, color: `var(--${marks[0]?.color ?? 'text-3'})` }}>
        {marks.length === 1 ? marks[0]?.words : t('events', { count: marks.length })}
      </span>
    </Tooltip>
  ))
}
