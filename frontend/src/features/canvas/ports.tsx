import { Handle, Position, useNodeId, useUpdateNodeInternals } from '@xyflow/react'
import { useEffect } from 'react'
import type { Port } from '../../dag/document'

const SIDE = { input: Position.Left, output: Position.Right, reference: Position.Top, errors: Position.Bottom } as const

const place = (index: number, count: number) => `${((index + 1) * 100) / (count + 1)}%`

interface Props {
  ports: Port[]
  connected: ReadonlySet<string>
  needed: ReadonlySet<string>
  editable: boolean
}

/** The canvas library measures handles once, and again when it is told that others are there. */
function useMeasuredAgain(names: string) {
  const nodeId = useNodeId()
  const measureAgain = useUpdateNodeInternals()
  useEffect(() => {
    if (nodeId) measureAgain(nodeId)
  }, [nodeId, names, measureAgain])
}

/** Inputs left, outputs right, reference inputs on top, errors at the bottom; where several stand on one side, each with its name. */
export function Ports({ ports, connected, needed, editable }: Props) {
  useMeasuredAgain(ports.map((port) => port.name).join(' '))
  return ports.map((port) => {
    const siblings = ports.filter((other) => other.kind === port.kind)
    const offset = place(siblings.indexOf(port), siblings.length)
    const vertical = port.kind === 'reference' || port.kind === 'errors'
    const state = needed.has(port.name) ? 'needed' : connected.has(port.name) ? 'on' : 'free'
    return (
      <Handle
        key={port.name}
        id={port.name}
        type={port.kind === 'input' || port.kind === 'reference' ? 'target' : 'source'}
        position={SIDE[port.kind]}
        isConnectable={editable}
        style={vertical ? { left: offset } : { top: offset }}
        className={`pw-port pw-port-${port.kind} pw-port-${state}`}
        title={port.name}
      >
        {!vertical && siblings.length > 1 && <span className={`pw-port-name pw-port-name-${port.kind}`}>{port.name}</span>}
      </Handle>
    )
  })
}
