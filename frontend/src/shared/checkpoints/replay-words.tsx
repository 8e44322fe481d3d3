import { useTranslation } from 'react-i18next'
import type { GraphChange, Precheck } from '../../api/types'
import { count, duration } from '../numbers'
import { SizeFigure } from './size-figure'

type Replay = Precheck['replay']

/** How much is done again, as far as it is known. */
export function ReplayWords({ replay, changes }: { replay: Replay; changes: GraphChange[] }) {
  const { t } = useTranslation('checkpoints')
  const nameOf = (nodeId: string) => changes.find((change) => change.node_id === nodeId)?.name ?? nodeId
  const told = replay.sources.filter((source) => source.rows !== null || source.files !== null)
  const rows = replay.rows === null ? t('replay.rowsUnknown') : t(replay.is_about ? 'replay.rowsAbout' : 'replay.rows', { rows: count(replay.rows) })
  const time = replay.seconds === null ? t('replay.timeUnknown') : replay.seconds === 0 ? t('replay.nothing') : t('replay.time', { time: duration(replay.seconds * 1000) })
  return (
    <div className="pw-12 pw-2">
      {replay.rows === null && told.length > 0 ? null : <p>{rows}</p>}
      <p>{time}</p>
      <ul>
        {(told.length > 1 || replay.rows === null || replay.is_about ? told : []).map((source) => (
          <li key={source.node_id}>
            {nameOf(source.node_id)}: {source.files === null ? t('replay.rows', { rows: count(source.rows) }) : t('replay.files', { files: count(source.files) })}
            {source.bytes == null ? null : (
              <>
                {' '}(<SizeFigure value={source.bytes} />)
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
