import { useTranslation } from 'react-i18next'
import type { Preview } from '../../api/types'
import { useDocument } from './editor-store'

/** What Python printed at the nodes. */
export function CodePrinted({ printed }: { printed: Preview['printed'] }) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  if (printed.length === 0) return null
  return (
    <section className="pw-preview-side" aria-label={t('preview.printed')}>
      <h3>{t('preview.printed')}</h3>
      <div className="pw-preview-printed" tabIndex={0}>
        {printed.map(({ node_id, text }, index) => (
          <div key={index}>
            <small>{document.nodes[node_id]?.name ?? node_id}</small>
            <pre>{text}</pre>
          </div>
        ))}
      </div>
    </section>
  )
}
