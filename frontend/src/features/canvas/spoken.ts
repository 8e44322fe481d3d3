import type { AriaLabelConfig } from '@xyflow/react'
import type { TFunction } from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { DagDocument, DagEdge } from '../../dag/document'

/** What the canvas library says to screen readers, which knows English alone. */
export function useSpoken(editable: boolean): Partial<AriaLabelConfig> {
  const { t } = useTranslation('canvas')
  return useMemo(() => {
    const node = t(editable ? 'spoken.nodeMoves' : 'spoken.nodeHelp')
    return {
      'node.a11yDescription.default': node,
      'node.a11yDescription.keyboardDisabled': node,
      'node.a11yDescription.ariaLiveMessage': ({ direction, x, y }) => t('spoken.moved', { direction: t(`spoken.${direction}`), x, y }),
      'edge.a11yDescription.default': t('spoken.edgeHelp'),
      'minimap.ariaLabel': t('spoken.map'),
    }
  }, [t, editable])
}

/** An edge by the names of its nodes; the library would say their ids. */
export const spokenEdge = (t: TFunction<'canvas'>, { nodes }: DagDocument, edge: DagEdge) => ({
  ariaLabel: t('spoken.edge', { from: nodes[edge.from[0]]?.name ?? edge.from[0], to: nodes[edge.to[0]]?.name ?? edge.to[0] }),
  domAttributes: { 'aria-roledescription': t('spoken.edgeRole') },
})

export const spokenNode = (t: TFunction<'canvas'>, name: string) => ({ ariaLabel: name, domAttributes: { 'aria-roledescription': t('spoken.nodeRole') } })
