import type { TFunction } from 'i18next'
import type { NodeType } from '../../dag/document'

type Words = Pick<NodeType, 'title' | 'help'>

/** Title and help of a node type in the reader's language; the catalogue's own for English and for types without a translation. */
export function typeWords(t: TFunction, type: Pick<NodeType, 'type' | 'title' | 'help'>): Words {
  const said = (field: keyof Words) => t(`nodeTypes:${type.type}.${field}`, { defaultValue: type[field] })
  return { title: said('title'), help: said('help') }
}
