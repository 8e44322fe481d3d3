import { Panel, useReactFlow, useStore } from '@xyflow/react'
import { IconBoxMultiple, IconLayoutDistributeVertical, IconMaximize, IconNote, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

interface Editing {
  onTidy: () => void
  onNote: () => void
  /** Absent while no node is selected. */
  onGroup: (() => void) | undefined
}

/** Zoom, show all, and in the editor tidy up, notes and groups. */
export function CanvasTools({ editing }: { editing?: Editing }) {
  const { t } = useTranslation('canvas')
  const { zoomIn, zoomOut, fitView } = useReactFlow()
  const zoom = useStore((state) => Math.round(state.transform[2] * 100))
  return (
    <Panel position="bottom-left" className="pw-tools">
      <button type="button" aria-label={t('zoomOut')} title={t('zoomOut')} onClick={() => void zoomOut()}>
        <IconZoomOut size={16} stroke={1.75} />
      </button>
      <span aria-live="off">{zoom} %</span>
      <button type="button" aria-label={t('zoomIn')} title={t('zoomIn')} onClick={() => void zoomIn()}>
        <IconZoomIn size={16} stroke={1.75} />
      </button>
      <button type="button" aria-label={t('fit')} title={t('fit')} onClick={() => void fitView({ padding: 0.15, maxZoom: 1 })}>
        <IconMaximize size={16} stroke={1.75} />
      </button>
      {editing && (
        <>
          <hr />
          <button type="button" aria-label={t('tidy')} title={t('tidy')} onClick={editing.onTidy}>
            <IconLayoutDistributeVertical size={16} stroke={1.75} />
          </button>
          <button type="button" aria-label={t('marks.addNote')} title={t('marks.addNote')} onClick={editing.onNote}>
            <IconNote size={16} stroke={1.75} />
          </button>
          <button type="button" aria-label={t('marks.groupNodes')} title={t('marks.groupNodes')} disabled={!editing.onGroup} onClick={editing.onGroup}>
            <IconBoxMultiple size={16} stroke={1.75} />
          </button>
        </>
      )}
    </Panel>
  )
}
