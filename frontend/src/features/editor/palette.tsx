import { IconPlus, IconSearch } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { useMemo, useState, type KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { said } from '../../api/sentences/said'
import type { Family, NodeType } from '../../dag/document'
import { unfitFor } from '../../dag/may-stand'
import { isComposing } from '../../shared/composing'
import { FamilyTile } from '../canvas/family-tile'
import { typeWords } from '../canvas/type-words'
import { useDocument, useEditor } from './editor-store'
import { addAtCentre } from './add-at-centre'

export const DRAGGED_TYPE = 'application/x-pipeline-node-type'
const FAMILIES: Family[] = ['source', 'flow', 'sink']

/** In the catalogue's words or the reader's. */
export function matches(t: TFunction, type: NodeType, words: string): boolean {
  const { title, help } = typeWords(t, type)
  return `${title} ${help} ${type.title} ${type.type} ${type.help}`.toLowerCase().includes(words.trim().toLowerCase())
}

/** A type that is called so, then those that begin so, then those in whose title it stands, then the rest; among these sources first. */
export function bestFirst(t: TFunction, types: NodeType[], words: string): NodeType[] {
  const sought = words.trim().toLowerCase()
  const rank = (type: NodeType) => {
    const titles = [typeWords(t, type).title, type.title].map((title) => title.toLowerCase())
    const tests = [(title: string) => title === sought, (title: string) => title.startsWith(sought), (title: string) => title.includes(sought)]
    const found = tests.findIndex((test) => titles.some(test))
    return found < 0 ? tests.length : found
  }
  const family = (type: NodeType) => FAMILIES.indexOf(type.family)
  return sought ? [...types].sort((one, other) => rank(one) - rank(other) || family(one) - family(other)) : types
}

function PaletteItem({ type, unfit }: { type: NodeType; unfit: ReturnType<typeof unfitFor> }) {
  const { t } = useTranslation('canvas')
  const { title, help } = typeWords(t, type)
  const usable = type.available && !unfit
  const reason = !type.available ? said(type.unavailable_reason) : unfit ? t(`unfit.${unfit}`) : help
  return (
    <li>
      <button
        type="button"
        className="pw-palette-item"
        disabled={!usable}
        draggable={usable}
        title={reason}
        onDragStart={(event) => {
          event.dataTransfer.setData(DRAGGED_TYPE, type.type)
          event.dataTransfer.effectAllowed = 'copy'
        }}
        onClick={() => addAtCentre(type)}
      >
        <FamilyTile family={type.family} icon={type.icon} small />
        <span className="pw-cut">{title}</span>
        <IconPlus size={14} className="pw-palette-plus" aria-hidden="true" />
      </button>
    </li>
  )
}

/** Node types by family: drag one, or press Enter on it. */
export function Palette() {
  const { t } = useTranslation('canvas')
  const catalogue = useEditor((state) => state.catalogue)
  const document = useDocument()
  const [words, setWords] = useState('')
  const groups = useMemo(
    () => FAMILIES.map((family) => ({ family, types: [...catalogue.values()].filter((type) => type.family === family && matches(t, type, words)) })).filter((group) => group.types.length > 0),
    [catalogue, words, t],
  )
  const addFirst = (event: KeyboardEvent) => {
    const found = groups.flatMap(({ types }) => types).filter((type) => type.available && !unfitFor(document, type))
    const [first] = bestFirst(t, found, words)
    if (event.key === 'Enter' && !isComposing(event) && words.trim() && first) addAtCentre(first)
  }
  return (
    <>
      <label className="pw-find">
        <IconSearch size={14} aria-hidden="true" />
        <input value={words} onChange={(event) => setWords(event.target.value)} onKeyDown={addFirst} placeholder={t('findNodeType')} aria-label={t('findNodeType')} />
        <kbd>n</kbd>
      </label>
      <div className="pw-palette">
        {groups.map(({ family, types }) => (
          <section key={family}>
            <h3>
              {t(`families.${family}`)}
              <span>{types.length}</span>
            </h3>
            <ul>
              {types.map((type) => (
                <PaletteItem key={type.type} type={type} unfit={unfitFor(document, type)} />
              ))}
            </ul>
          </section>
        ))}
        {groups.length === 0 && <p className="pw-empty">{t('noNodeType', { words })}</p>}
      </div>
    </>
  )
}
