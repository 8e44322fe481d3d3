import { Button, Loader, Select } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/request'
import type { Preview } from '../../api/types'
import type { Problem } from '../../dag/document'
import { StateGlyph } from '../../shared/state-glyph'
import { useDocument, useEditor } from './editor-store'
import { PreviewTable } from './preview-table'
import { usePreview, type Previewed } from './use-preview'

const ROWS = ['10', '100', '1000']

function Refused({ message, problems }: { message: string; problems: readonly Problem[] }) {
  const document = useDocument()
  return (
    <div className="pw-preview-refused" role="alert">
      {(problems.length > 0 ? problems : [{ message, node_id: '' }]).map((problem, index) => (
        <p key={index} className="pw-line">
          <StateGlyph state="failed" />
          {problem.node_id && <b>{document.nodes[problem.node_id]?.name ?? problem.node_id}</b>}
          <span className="pw-wrap">{problem.message}</span>
        </p>
      ))}
    </div>
  )
}

function Sides({ preview }: { preview: Preview }) {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const held = preview.not_acted.map((id) => document.nodes[id]?.name ?? id)
  const name = (kind: 'in' | 'out', port: string) => (port === kind ? t(`preview.${kind}`) : port === 'errors' ? t('preview.rejected') : t(`preview.${kind}Of`, { port }))
  const outputs = Object.entries(preview.outputs).filter(([port, side]) => port !== 'errors' || side.rows.length > 0)
  return (
    <>
      {held.length > 0 && <p className="pw-preview-held" role="note">{t('preview.held', { nodes: held.join(', '), count: held.length })}</p>}
      <div className="pw-preview-sides">
        {Object.entries(preview.inputs).map(([port, side]) => <PreviewTable key={`in ${port}`} title={name('in', port)} side={side} />)}
        {outputs.map(([port, side]) => <PreviewTable key={`out ${port}`} title={name('out', port)} side={side} />)}
      </div>
    </>
  )
}

function Found({ preview, error, loading }: Previewed) {
  const { t } = useTranslation('canvas')
  if (loading && !preview) {
    return (
      <p className="pw-empty pw-line" role="status">
        <Loader size={14} /> {t('preview.reading')}
      </p>
    )
  }
  if (error) return <Refused message={error.message} problems={error instanceof ApiError ? error.problems : []} />
  if (!preview) return <p className="pw-empty">{t('preview.cancelled')}</p>
  return preview.available ? <Sides preview={preview} /> : <Refused message={preview.message} problems={preview.problems as Problem[]} />
}

function OfNode({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation('canvas')
  const [rows, setRows] = useState('100')
  const previewed = usePreview(nodeId, Number(rows))
  const name = useDocument().nodes[nodeId]?.name ?? nodeId
  return (
    <div className="pw-preview" data-stale={(previewed.loading && previewed.preview !== undefined) || undefined}>
      <div className="pw-preview-head">
        <b className="pw-cut" title={name}>{name}</b>
        <span className="pw-11 pw-3 pw-cut">{t(previewed.outdated ? 'preview.outdated' : 'preview.help')}</span>
        <span className="pw-grow" />
        <Select size="xs" w={110} aria-label={t('preview.most')} data={ROWS.map((value) => ({ value, label: t('preview.rows', { count: Number(value) }) }))} value={rows} allowDeselect={false} onChange={(value) => setRows(value ?? '100')} />
        {previewed.loading ? (
          <Button size="compact-xs" onClick={previewed.cancel}>{t('preview.cancel')}</Button>
        ) : (
          <Button size="compact-xs" leftSection={<IconRefresh size={12} />} onClick={previewed.again}>{t('preview.again')}</Button>
        )}
      </div>
      <Found {...previewed} />
    </div>
  )
}

/** The first rows into and out of the selected node; no sink is touched. */
export function PreviewTab() {
  const { t } = useTranslation('canvas')
  const document = useDocument()
  const selected = useEditor((state) => state.selected)
  const [nodeId] = [...selected].filter((id) => document.nodes[id])
  if (!nodeId || selected.size !== 1) return <p className="pw-empty">{t('preview.choose')}</p>
  return <OfNode nodeId={nodeId} />
}
