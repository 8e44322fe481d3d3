import { Modal, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { CheckpointComparison, CheckpointPoint } from '../../api/types'
import { Failure } from '../failure'
import { count } from '../numbers'
import { dayClock } from '../times'
import { CheckpointPhases } from './checkpoint-phases'
import { compareCheckpoints } from './checkpoint-requests'
import './checkpoints.css'
import { ComparedFacts } from './compared-facts'
import { ComparedOperators } from './compared-operators'
import { ComparedOffsets } from './compared-offsets'
import './parts/i18n'

interface Props {
  first: number
  second: number
  /** Those one may choose from, oldest first. */
  points: readonly Pick<CheckpointPoint, 'id' | 'checkpoint_id' | 'create_time' | 'origin'>[]
  onChoose: (first: number, second: number) => void
  onClose: () => void
}

function Compared({ found }: { found: CheckpointComparison }) {
  const { t } = useTranslation('checkpoints')
  return (
    <>
      <ComparedFacts first={found.first} second={found.second} />
      <section>
        <h3>{t('detail.offsets')}</h3>
        <ComparedOffsets sources={found.sources} names={found.node_names} />
      </section>
      <ComparedOperators first={found.first} second={found.second} names={found.node_names} />
      <div className="pw-compare-phases">
        {[found.first, found.second].map((one) => (
          <div key={one.id}>
            <span className="pw-mono-11 pw-3">{count(one.checkpoint_id)}</span>
            <CheckpointPhases phases={one.phases} total={one.duration_ms} />
          </div>
        ))}
      </div>
    </>
  )
}

/** Two checkpoints of an execution side by side: what was read between them, what they hold, and where their time went. */
export default function CompareDialog({ first, second, points, onChoose, onClose }: Props) {
  const { t } = useTranslation(['checkpoints', 'shared'])
  const asked = useQuery({ queryKey: ['compare-checkpoints', first, second], queryFn: () => compareCheckpoints(first, second), refetchOnWindowFocus: false, placeholderData: (before: CheckpointComparison | undefined) => before })
  const data = [...points].reverse().map((one) => ({ value: String(one.id), label: `${count(one.checkpoint_id)} · ${dayClock(one.create_time)} · ${t(`shared:origin.${one.origin}`)}` }))
  return (
    <Modal opened onClose={onClose} title={t('compare.title')} size={860}>
      <div className="pw-compare">
        <div className="pw-compare-choice">
          <Select searchable allowDeselect={false} label={t('compare.first')} data={data} value={String(first)} onChange={(value) => value && onChoose(Number(value), second)} />
          <Select searchable allowDeselect={false} label={t('compare.second')} data={data} value={String(second)} onChange={(value) => value && onChoose(first, Number(value))} />
        </div>
        {asked.error && <Failure error={asked.error} what={t('compare.title')} retry={() => void asked.refetch()} />}
        {asked.data && <Compared found={asked.data} />}
      </div>
    </Modal>
  )
}
