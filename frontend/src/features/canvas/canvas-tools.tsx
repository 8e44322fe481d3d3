import { Panel, useReactFlow, useStore } from '@xyflow/react'
import { IconLayoutDistributeVertical, IconMaximize, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** Zoom, show all, and in the editor tidy up. */
export function CanvasTools({ onTidy }: { onTidy?: () => void }) {
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
      {onTidy && (
        <>
          <hr />
          <button type="button" aria-label={t('tidy')} title={t('tidy')} onClick={onTidy}>
            <IconLayoutDistributeVertical size={16} stroke={1.75} />
          </button>
        </>
      )}
    </Panel>
  )
}
