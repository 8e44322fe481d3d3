import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { SinkRollBack } from '../../api/types'
import { count } from '../numbers'
import { StateGlyph } from '../state-glyph'

/** What becomes of what one sink wrote since the checkpoint, in the reader's language. */
function rollBackWords(t: TFunction<'checkpoints'>, one: SinkRollBack): string {
  const sink = one.name
  if (one.way === 'replaced') return t('rollBack.replaced', { sink })
  if (one.hindrance === 'nothing') return t('rollBack.keepsNothing', { sink })
  if (one.way === 'repeated') return t('rollBack.cannot', { sink, why: t(`rollBack.why.${one.hindrance || 'kept'}`) })
  if (one.count === null) return t('rollBack.rows', { sink })
  return t(one.unit === 'files' ? 'rollBack.files' : 'rollBack.rowsCounted', { sink, number: count(one.count) })
}

const glyphOf = (one: SinkRollBack) => (one.way === 'repeated' && one.hindrance !== 'nothing' ? 'warning' : 'completed')

export function SinkRollBacks({ rollBacks }: { rollBacks: SinkRollBack[] }) {
  const { t } = useTranslation('checkpoints')
  return (
    <ul className="pw-checks">
      {rollBacks.map((one) => (
        <li key={one.node_id}>
          <StateGlyph state={glyphOf(one)} />
          <span className="pw-wrap">{rollBackWords(t, one)}</span>
        </li>
      ))}
    </ul>
  )
}
