import { Modal } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useMemo, useState, type KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { fittingPort } from '../../dag/connect-rules'
import type { DagDocument, Endpoint, NodeType } from '../../dag/document'
import { unfitFor } from '../../dag/may-stand'
import { isComposing } from '../../shared/composing'
import { intoSight } from '../../shared/into-sight'
import { FamilyTile } from '../canvas/family-tile'
import { typeWords } from '../canvas/type-words'
import { addAtCentre } from './add-at-centre'
import { useDocument, useEditor } from './editor-store'
import { bestFirst, matches } from './palette'
import { closePicker, usePicker, type PickRequest } from './picker-store'

/** Only what fits: behind an output nothing without an input, before an input nothing without an output. */
function fits(type: NodeType, request: PickRequest, document: DagDocument): boolean {
  if (!type.available || unfitFor(document, type)) return false
  const needsInput = Boolean(request.from ?? request.edge)
  const needsOutput = Boolean(request.to ?? request.edge)
  const output = { name: 'out', kind: 'output', required: true, many: true } as const
  const input = { name: 'in', kind: 'input', required: true, many: false } as const
  return (!needsInput || Boolean(fittingPort(type, output))) && (!needsOutput || Boolean(fittingPort(type, input)))
}

function place(request: PickRequest, type: NodeType) {
  const { addNode, history } = useEditor.getState()
  const { positions } = history.present.layout
  const beside = (end: Endpoint | undefined, dx: number) => (end ? { x: (positions[end[0]]?.x ?? 0) + dx, y: positions[end[0]]?.y ?? 0 } : undefined)
  const at = request.at ?? beside(request.from, 248) ?? beside(request.to, -248)
  if (at) addNode(type, at, request)
  else addAtCentre(type)
}

function Choices({ request }: { request: PickRequest }) {
  const { t } = useTranslation('canvas')
  const catalogue = useEditor((state) => state.catalogue)
  const document = useDocument()
  const [words, setWords] = useState('')
  const [index, setIndex] = useState(0)
  const types = useMemo(() => bestFirst(t, [...catalogue.values()].filter((type) => fits(type, request, document) && matches(t, type, words)), words), [catalogue, request, document, words, t])
  const current = Math.min(index, types.length - 1)
  const choose = (type: NodeType | undefined) => {
    if (!type) return
    closePicker()
    place(request, type)
  }
  const search = (text: string) => {
    setWords(text)
    setIndex(0)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (event.key === 'ArrowDown') setIndex(Math.min(current + 1, types.length - 1))
    else if (event.key === 'ArrowUp') setIndex(Math.max(current - 1, 0))
    else if (event.key === 'Enter') choose(types[current])
    else return
    event.preventDefault()
  }
  return (
    <div onKeyDown={onKeyDown}>
      <label className="pw-find">
        <IconSearch size={14} aria-hidden="true" />
        <input data-autofocus role="combobox" aria-expanded aria-controls="pw-picker" aria-activedescendant={types[current] && `pw-pick-${current}`} value={words} onChange={(event) => search(event.target.value)} placeholder={t('findNodeType')} aria-label={t('findNodeType')} />
      </label>
      <ul id="pw-picker" className="pw-picker" role="listbox" aria-label={t('findNodeType')}>
        {types.map((type, position) => (
          <li key={type.type} id={`pw-pick-${position}`} ref={position === current ? intoSight : undefined} role="option" aria-selected={position === current} onMouseMove={() => setIndex(position)} onClick={() => choose(type)}>
            <FamilyTile family={type.family} icon={type.icon} />
            <span>
              <b>{typeWords(t, type).title}</b>
              <small>{typeWords(t, type).help}</small>
            </span>
          </li>
        ))}
        {types.length === 0 && <li className="pw-empty">{t('noNodeType', { words })}</li>}
      </ul>
    </div>
  )
}

export function NodePicker() {
  const { t } = useTranslation('canvas')
  const request = usePicker((state) => state.request)
  return (
    <Modal opened={request !== null} onClose={closePicker} title={t('addNode')} size={420} yOffset={96} padding="sm">
      {request && <Choices request={request} />}
    </Modal>
  )
}
