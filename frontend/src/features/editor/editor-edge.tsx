import { BaseEdge, type Edge, type EdgeProps } from '@xyflow/react'
import { memo } from 'react'
import { edgePath } from '../canvas/run-edge'

export type EditorEdgeData = { errors: boolean; problem: boolean; touchesSelection: boolean }

export const EditorEdge = memo(function EditorEdge(props: EdgeProps<Edge<EditorEdgeData>>) {
  const [path] = edgePath(props)
  const { errors, problem, touchesSelection } = props.data ?? {}
  const look = problem ? 'pw-edge-problem' : errors ? 'pw-edge-errors' : props.selected || touchesSelection ? 'pw-edge-selected' : ''
  return <BaseEdge id={props.id} path={path} className={`pw-edge ${look}`} interactionWidth={16} />
})
