import { Background, BackgroundVariant, MiniMap, ReactFlow, useReactFlow, type Connection, type EdgeChange, type FinalConnectionState } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useCallback, useRef, useState, type DragEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { connectionRefusal, isFull, type Refusal } from '../../dag/connect-rules'
import { familyOf, isInput, type Endpoint } from '../../dag/document'
import { NODE_HEIGHT, NODE_WIDTH } from '../../dag/layout'
import { NOTE_SIZE } from '../../dag/marks'
import { answer } from '../../shared/answers'
import '../canvas/canvas.css'
import { CanvasTools } from '../canvas/canvas-tools'
import '../canvas/i18n'
import { markTypes } from '../canvas/marks'
import { useSpoken } from '../canvas/spoken'
import { useOpeningView } from '../canvas/use-opening-view'
import { EditorEdge } from './editor-edge'
import { EditorNode } from './editor-node'
import { useEditor } from './editor-store'
import { DRAGGED_TYPE } from './palette'
import { openPicker } from './picker-store'
import { RefusalNote } from './refusal-note'
import { tidyUp } from './tidy-up'
import { useAskedNode } from './use-asked-node'
import { useFlowEdges, useFlowNodes, type FlowNode } from './use-flow-elements'
import { useShowAdded } from './use-show-added'

const nodeTypes = { editor: EditorNode, ...markTypes }
const edgeTypes = { editor: EditorEdge }
const MANY_NODES = 200

const endpoints = (connection: Connection | { source: string; target: string; sourceHandle?: string | null; targetHandle?: string | null }): [Endpoint, Endpoint] => [
  [connection.source, connection.sourceHandle ?? 'out'],
  [connection.target, connection.targetHandle ?? 'in'],
]

const mapColour = (node: FlowNode) => (node.type === 'editor' ? `var(--${familyOf(node.data.node.type)}-line)` : node.type === 'note' ? 'var(--border-button)' : 'transparent')

/** The edge whose drawn path is nearest to a point of the screen, if within reach. */
function edgeAt(x: number, y: number): string | undefined {
  const hit = document.elementsFromPoint(x, y).find((element) => element.classList.contains('react-flow__edge-interaction'))
  return hit?.closest<SVGGElement>('.react-flow__edge')?.dataset.id
}

export function EditorCanvas() {
  const { t } = useTranslation('canvas')
  const { screenToFlowPosition } = useReactFlow()
  const { nodes, onNodesChange, onDragStop } = useFlowNodes()
  const edges = useFlowEdges()
  const readOnly = useEditor((state) => state.readOnly)
  const [hadNodes] = useState(() => Object.keys(useEditor.getState().history.present.document.nodes).length > 0)
  const spoken = useSpoken(!readOnly)
  const { isShown, show: showBeginning } = useOpeningView(hadNodes)
  const stays = useShowAdded()
  useAskedNode(isShown)
  const tidy = () => void tidyUp().then(() => requestAnimationFrame(showBeginning), () => answer(false, t('notTidied')))
  const canGroup = useEditor((state) => state.selected.size > 0)
  const group = () => useEditor.getState().group()
  const note = () => {
    const { left, top, width, height } = well.current?.getBoundingClientRect() ?? { left: 0, top: 0, width: 0, height: 0 }
    const { x, y } = screenToFlowPosition({ x: left + width / 2, y: top + height / 3 })
    useEditor.getState().addNote({ x: x - NOTE_SIZE.width / 2, y: y - NOTE_SIZE.height / 2 })
  }
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const well = useRef<HTMLElement>(null)

  const isValidConnection = useCallback((connection: Connection | { source: string; target: string }) => {
    const { history, catalogue } = useEditor.getState()
    return connectionRefusal(history.present.document, catalogue, ...endpoints(connection as Connection)) === null
  }, [])

  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { history, catalogue } = useEditor.getState()
      if (state.isValid || !state.fromHandle || !state.fromNode) return
      const from: Endpoint = [state.fromNode.id, state.fromHandle.id ?? 'out']
      if (state.toHandle && state.toNode) {
        const pair: [Endpoint, Endpoint] = state.fromHandle.type === 'source' ? [from, [state.toNode.id, state.toHandle.id ?? 'in']] : [[state.toNode.id, state.toHandle.id ?? 'out'], from]
        setRefusal(connectionRefusal(history.present.document, catalogue, ...pair))
        return
      }
      const toInput = state.fromHandle.type === 'target'
      if (toInput && isFull(history.present.document, catalogue, from)) {
        setRefusal({ reason: 'full', detail: '' })
        return
      }
      const point = 'changedTouches' in event ? event.changedTouches[0] : event
      if (!point) return
      const at = screenToFlowPosition({ x: point.clientX, y: point.clientY })
      openPicker(toInput ? { to: from, at: { x: at.x - NODE_WIDTH, y: at.y } } : { from, at })
    },
    [screenToFlowPosition],
  )

  const onDrop = useCallback(
    (event: DragEvent) => {
      const type = useEditor.getState().catalogue.get(event.dataTransfer.getData(DRAGGED_TYPE))
      if (!type) return
      event.preventDefault()
      const at = screenToFlowPosition({ x: event.clientX - NODE_WIDTH / 2, y: event.clientY - NODE_HEIGHT / 2 })
      const edge = type.ports.some(isInput) && type.family === 'flow' ? edgeAt(event.clientX, event.clientY) : undefined
      stays(useEditor.getState().addNode(type, at, edge ? { edge } : undefined))
    },
    [screenToFlowPosition, stays],
  )

  const onEdgesChange = useCallback((changes: EdgeChange[]) => {
    const { selected, selectedEdges, selectedMarks, select } = useEditor.getState()
    const next = new Set(selectedEdges)
    for (const change of changes) if (change.type === 'select') next[change.selected ? 'add' : 'delete'](change.id)
    if (next.size !== selectedEdges.size || [...next].some((id) => !selectedEdges.has(id))) select(selected, next, selectedMarks)
  }, [])

  return (
    <section
      className="pw-canvas"
      aria-label={t('canvas')}
      ref={well}
      onDrop={onDrop}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(DRAGGED_TYPE)) event.preventDefault()
      }}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnectStart={() => setRefusal(null)}
        onConnect={(connection) => useEditor.getState().connect(...endpoints(connection))}
        onConnectEnd={onConnectEnd}
        isValidConnection={isValidConnection}
        onNodeDragStop={(_, __, moved) => onDragStop(moved)}
        onSelectionDragStop={(_, moved) => onDragStop(moved)}
        nodesDraggable={!readOnly}
        nodesConnectable={!readOnly}
        edgesFocusable={false}
        snapToGrid
        snapGrid={[4, 4]}
        onlyRenderVisibleElements={nodes.length > MANY_NODES}
        minZoom={0.2}
        maxZoom={2}
        ariaLabelConfig={spoken}
        deleteKeyCode={null}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={['Meta', 'Control']}
        proOptions={{ hideAttribution: true }}
      >
        <Background variant={BackgroundVariant.Dots} gap={16} size={1.2} color="var(--canvas-dot)" />
        {readOnly ? <CanvasTools /> : <CanvasTools editing={{ onTidy: tidy, onNote: note, onGroup: canGroup ? group : undefined }} />}
        {nodes.length > 0 && (
          <MiniMap className="pw-minimap" pannable zoomable nodeColor={mapColour} nodeBorderRadius={6} bgColor="var(--surface-raised)" maskColor="color-mix(in srgb, var(--surface-canvas) 70%, transparent)" style={{ width: 128, height: 80 }} />
        )}
        {nodes.length === 0 && <div className="pw-canvas-empty">{t('emptyCanvas')}</div>}
      </ReactFlow>
      {refusal && <RefusalNote refusal={refusal} onGone={() => setRefusal(null)} />}
    </section>
  )
}
