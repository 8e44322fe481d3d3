import i18next from 'i18next'
import { create } from 'zustand'
import type { Delivery } from '../../api/types'
import * as edit from '../../dag/document'
import type { Catalogue, Column, DagDocument, DagNode, Endpoint, Group, Layout, NodeType, Note, Position, Problem, Schemas } from '../../dag/document'
import { connectionRefusal, type Refusal } from '../../dag/connect-rules'
import { copyNodes, pasteNodes } from '../../dag/clipboard'
import { historyOf, record, redo, undo, type History } from '../../dag/history'
import { completeLayout, freePlace } from '../../dag/layout'
import * as marks from '../../dag/marks'
import { portsFollowed } from '../../dag/port-names'
import { fieldPath } from '../../dag/problems'
import { spokenStart } from '../canvas/field-words'
import { typeWords } from '../canvas/type-words'

export interface Drawing {
  document: DagDocument
  layout: Layout
}

export type SaveState =
  | { kind: 'saved'; at: number }
  | { kind: 'dirty' }
  | { kind: 'saving' }
  | { kind: 'offline' }
  | { kind: 'failed'; refused: string }
  | { kind: 'conflict'; by: string; revision: number }

export interface EditorState {
  jobName: string
  catalogue: Catalogue
  history: History<Drawing>
  /** The drawing as the server has it. */
  saved: Drawing
  revision: number
  /** The reader's role does not let them change it: it is looked at only. */
  readOnly: boolean
  save: SaveState
  problems: Problem[]
  /** What the latest save said of problems, which Spark has not seen. */
  told: Problem[]
  /** What its nodes promise of its rows; null while nothing can be said. */
  delivery: Delivery | null
  schemas: Schemas
  analysing: boolean
  /** The drawing that `problems` and `schemas` are of; null before the first analysis. */
  analysed: DagDocument | null
  /** The drawing of which the latest analysis said what it could: `analysed`, or one that could not be analysed. */
  checked: DagDocument | null
  /** Why Spark did not look at `checked`, "" where it did. */
  unanalysed: string
  selected: ReadonlySet<string>
  selectedEdges: ReadonlySet<string>
  /** Notes and groups. */
  selectedMarks: ReadonlySet<string>
  /** The config field to focus, such as `columns.1.name`; set by a click on a problem. Another object focuses it once more. */
  focusField: { path: string } | null
  open: (jobName: string, catalogue: Catalogue, drawing: Drawing, revision: number, problems: Problem[], readOnly?: boolean, delivery?: Delivery | null) => void
  /** Another drawing that the server has comes in place of this one, which Undo brings back. */
  takeOver: (drawing: Drawing, revision: number, problems: Problem[], delivery: Delivery | null) => void
  change: (next: Partial<Drawing>, key?: string) => void
  addNode: (type: NodeType, at: Position, link?: Link) => string
  connect: (from: Endpoint, to: Endpoint) => Refusal | null
  removeSelected: () => void
  remove: (nodeIds: string[], edgeIds?: string[], markIds?: ReadonlySet<string>) => void
  changeNode: (id: string, change: Partial<DagNode>, key?: string) => void
  /** Nodes, notes and groups stand elsewhere. Moves with the same key that follow each other closely are one step. */
  move: (nodes: Record<string, Position>, marks?: Record<string, Position>, key?: string) => void
  /** Nodes are laid out anew, and the groups that they stand in go along. */
  layOut: (positions: Record<string, Position>) => void
  addNote: (at: Position) => void
  /** A group around the selected nodes. */
  group: () => void
  changeMark: (id: string, change: Partial<Note & Group>, key?: string) => void
  removeMark: (id: string) => void
  select: (nodeIds: Iterable<string>, edgeIds?: Iterable<string>, markIds?: Iterable<string>) => void
  focusProblem: (problem: Problem) => void
  undo: () => void
  redo: () => void
  copy: () => string
  paste: (text: string) => boolean
}

const emptyDocument: DagDocument = { schema_version: 1, name: '', type: 'STREAMING', parameters: {}, nodes: {}, edges: {}, settings: {} }
const emptyDrawing: Drawing = { document: emptyDocument, layout: { positions: {}, notes: [], groups: [] } }

interface Link {
  from?: Endpoint
  to?: Endpoint
  edge?: string
}

/** With the new node joined to where it is wanted, if it may be. */
const wired = (document: DagDocument, catalogue: Catalogue, id: string, type: NodeType, link: Link | undefined): DagDocument => {
  const joined = (from: Endpoint, to: Endpoint) =>
    connectionRefusal(document, catalogue, from, to) ? document : edit.connect(document, from, to)
  if (link?.edge) return edit.insertOnEdge(document, link.edge, id, type)
  const input = type.ports.find((port) => port.kind === 'input')
  const output = type.ports.find((port) => port.kind === 'output')
  if (link?.from && input) return joined(link.from, [id, input.name])
  if (link?.to && output) return joined([id, output.name], link.to)
  return document
}

/** Of `ids` those that are drawn: the same set where all are. */
const drawnOf = (ids: ReadonlySet<string>, drawn: object): ReadonlySet<string> =>
  [...ids].every((id) => id in drawn) ? ids : new Set([...ids].filter((id) => id in drawn))

/** Another point of the history; what is not drawn there cannot be selected. */
const turnedTo = ({ selected, selectedEdges, selectedMarks }: EditorState, history: EditorState['history']): Partial<EditorState> => {
  const { document, layout } = history.present
  const drawn = Object.fromEntries([...layout.notes, ...layout.groups].map(({ id }) => [id, true]))
  return { history, selected: drawnOf(selected, document.nodes), selectedEdges: drawnOf(selectedEdges, document.edges), selectedMarks: drawnOf(selectedMarks, drawn) }
}

/** What is known of a drawing just as the server has it. */
const asKept = ({ document, layout }: Drawing, revision: number, problems: Problem[], delivery: Delivery | null) => ({
  saved: { document, layout: completeLayout(document, layout) },
  revision,
  problems,
  told: problems,
  delivery,
  schemas: {},
  analysed: null,
  checked: null,
  unanalysed: '',
  save: { kind: 'saved', at: Date.now() } as const,
})

/** What the editor holds: the drawing with its history, and what the server says of it. Server calls live in `use-draft-sync`. */
export const useEditor = create<EditorState>((set, get) => ({
  jobName: '',
  catalogue: new Map(),
  history: historyOf(emptyDrawing),
  saved: emptyDrawing,
  revision: 0,
  readOnly: false,
  save: { kind: 'saved', at: 0 },
  problems: [],
  told: [],
  delivery: null,
  schemas: {},
  analysing: false,
  analysed: null,
  checked: null,
  unanalysed: '',
  selected: new Set(),
  selectedEdges: new Set(),
  selectedMarks: new Set(),
  focusField: null,

  open: (jobName, catalogue, drawing, revision, problems, readOnly = false, delivery = null) => {
    const kept = asKept(drawing, revision, problems, delivery)
    set({ ...kept, jobName, catalogue, history: historyOf(kept.saved), readOnly, selected: new Set(), selectedEdges: new Set(), selectedMarks: new Set(), focusField: null })
  },

  takeOver: (drawing, revision, problems, delivery) => {
    const kept = asKept(drawing, revision, problems, delivery)
    set({ ...kept, ...turnedTo(get(), record(get().history, kept.saved, '', Date.now())) })
  },

  change: (next, key = '') => {
    const { history, readOnly } = get()
    if (!readOnly) set({ history: record(history, { ...history.present, ...next }, key, Date.now()) })
  },

  addNode: (type, at, link) => {
    if (get().readOnly) return ''
    const { document, layout } = get().history.present
    const added = edit.addNode(document, { ...spokenStart(type), title: typeWords(i18next.t, type).title })
    const positions = { ...layout.positions, [added.id]: freePlace(layout, at) }
    get().change({ document: wired(added.document, get().catalogue, added.id, type, link), layout: { ...layout, positions } })
    get().select([added.id])
    return added.id
  },

  connect: (from, to) => {
    const { document } = get().history.present
    const refusal = connectionRefusal(document, get().catalogue, from, to)
    if (!refusal) get().change({ document: edit.connect(document, from, to) })
    return refusal
  },

  remove: (nodeIds, edgeIds = [], markIds = new Set()) => {
    const { document, layout } = get().history.present
    const gone = new Set(nodeIds)
    const positions = Object.fromEntries(Object.entries(layout.positions).filter(([id]) => !gone.has(id)))
    get().change({ document: edit.removeElements(document, nodeIds, edgeIds), layout: { ...marks.removeMarks(layout, markIds), positions } })
    get().select([])
  },

  removeSelected: () => {
    const { selected, selectedEdges, selectedMarks } = get()
    if (selected.size + selectedEdges.size + selectedMarks.size > 0) get().remove([...selected], [...selectedEdges], selectedMarks)
  },

  changeNode: (id, change, key) => {
    const { document } = get().history.present
    const changed = edit.changeNode(document, id, change)
    get().change({ document: portsFollowed(document, changed, id, get().catalogue.get(document.nodes[id]?.type ?? '')) }, key)
  },

  move: (nodes, moved = {}, key) => {
    const { layout } = get().history.present
    const placed = Object.entries(moved).reduce((next, [id, place]) => marks.changeMark(next, id, place), layout)
    get().change({ layout: { ...placed, positions: { ...layout.positions, ...nodes } } }, key)
  },

  layOut: (positions) => {
    const { layout } = get().history.present
    get().change({ layout: marks.groupsFollowed(layout, { ...layout, positions: { ...layout.positions, ...positions } }) })
  },

  addNote: (at) => {
    const added = marks.addNote(get().history.present.layout, at)
    get().change({ layout: added.layout })
    get().select([], [], [added.id])
  },

  group: () => {
    const added = marks.addGroup(get().history.present.layout, get().selected)
    if (!added) return
    get().change({ layout: added.layout })
    get().select([], [], [added.id])
  },

  changeMark: (id, change, key) => get().change({ layout: marks.changeMark(get().history.present.layout, id, change) }, key),

  removeMark: (id) => {
    get().change({ layout: marks.removeMarks(get().history.present.layout, new Set([id])) })
    set({ selectedMarks: new Set() })
  },

  select: (nodeIds, edgeIds = [], markIds = []) => set({ selected: new Set(nodeIds), selectedEdges: new Set(edgeIds), selectedMarks: new Set(markIds), focusField: null }),

  focusProblem: (problem) => {
    const type = get().catalogue.get(get().history.present.document.nodes[problem.node_id ?? '']?.type ?? '')
    const path = fieldPath(problem, problem.node_id ?? '', type)?.join('.')
    set({
      selected: new Set(problem.node_id ? [problem.node_id] : []),
      selectedEdges: new Set(problem.edge_id && !problem.node_id ? [problem.edge_id] : []),
      selectedMarks: new Set(),
      focusField: path === undefined ? null : { path },
    })
  },

  undo: () => set(turnedTo(get(), undo(get().history))),
  redo: () => set(turnedTo(get(), redo(get().history))),

  copy: () => {
    const { document, layout } = get().history.present
    return copyNodes(document, layout, get().selected)
  },

  paste: (text) => {
    const { document, layout } = get().history.present
    const pasted = pasteNodes(document, layout, text)
    if (!pasted || get().readOnly) return false
    get().change({ document: pasted.document, layout: pasted.layout })
    get().select(pasted.ids)
    return true
  },
}))

export const useDocument = () => useEditor((state) => state.history.present.document)
export const useLayout = () => useEditor((state) => state.history.present.layout)

/** Columns that reach the input ports of a node, or one of them, by the latest analysis. */
export function inputColumns(document: DagDocument, schemas: Schemas, nodeId: string, port?: string): Column[] {
  const seen = new Map<string, Column>()
  for (const edge of Object.values(document.edges)) {
    if (edge.to[0] !== nodeId || (port ?? edge.to[1]) !== edge.to[1]) continue
    for (const column of schemas[edge.from[0]]?.[edge.from[1]] ?? []) seen.set(column.name, column)
  }
  return [...seen.values()]
}
