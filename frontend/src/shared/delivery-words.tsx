import { useTranslation } from 'react-i18next'
import type { Delivery } from '../api/types'

const KEYS: Record<Delivery['guarantee'], string> = { 'exactly once': 'exactly', 'at least once': 'atLeast', 'at most once': 'atMost', 'no guarantee': 'none' }
const tone = (guarantee: Delivery['guarantee']) => (guarantee === 'exactly once' ? 'pw-chip' : 'pw-chip pw-chip-warn')

/** What a job promises of its rows when something fails, and which of its nodes promise what. */
export function DeliveryWords({ delivery }: { delivery: Delivery }) {
  const { t } = useTranslation('shared')
  const word = (guarantee: Delivery['guarantee']) => t(`delivery.word.${KEYS[guarantee]}`)
  return (
    <section className="pw-delivery">
      <h3>
        {t('delivery.title')} <span className={tone(delivery.guarantee)}>{word(delivery.guarantee)}</span>
      </h3>
      <p className="pw-11 pw-3">{t(`delivery.help.${KEYS[delivery.guarantee]}`)}</p>
      <dl>
        {delivery.nodes.map((node) => (
          <div key={node.node_id}>
            <dt className="pw-cut" title={node.type}>{node.name}</dt>
            <dd className={node.guarantee === 'exactly once' ? 'pw-2' : 'pw-warn'}>{word(node.guarantee)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
