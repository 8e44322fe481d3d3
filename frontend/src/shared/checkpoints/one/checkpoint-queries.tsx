import { useTranslation } from 'react-i18next'
import type { Checkpoint } from '../../../api/types'
import { count, NO_VALUE } from '../../numbers'
import { wholeTime } from '../../times'
import { SizeFigure } from '../size-figure'
import './i18n'

/** Each query's batch, files and bytes, and under it the event time up to which rows had come. */
export function CheckpointQueries({ checkpoint }: { checkpoint: Checkpoint }) {
  const { t } = useTranslation('checkpoint')
  const queries = Object.entries(checkpoint.queries)
  if (queries.length === 0) return null
  return (
    <section>
      <h3>{t('queries')}</h3>
      <table className="pw-facts pw-query-facts">
        <thead>
          <tr>
            <th scope="col">{t('query')}</th>
            <th scope="col">{t('batch')}</th>
            <th scope="col">{t('files')}</th>
            <th scope="col">{t('bytes')}</th>
          </tr>
        </thead>
        <tbody>
          {queries.map(([key, { batch_id, files, bytes, watermark_ms }]) => (
            <tr key={key}>
              <th scope="row">
                <span className="pw-mono-11">{key}</span>
                {watermark_ms != null && <span className="pw-11 pw-3 pw-query-watermark">{t('watermark')} {wholeTime(watermark_ms)}</span>}
              </th>
              <td>{batch_id != null && batch_id >= 0 ? count(batch_id) : NO_VALUE}</td>
              <td title={files == null ? t('unknown') : undefined}>{count(files)}</td>
              <td><SizeFigure value={bytes} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
