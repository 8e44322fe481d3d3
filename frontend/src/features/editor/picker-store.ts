import { create } from 'zustand'
import type { Endpoint, Position } from '../../dag/document'
import { useEditor } from './editor-store'

/** Where a node picked from the menu goes: free on the canvas, behind or before a port, or into an edge. */
export interface PickRequest {
  from?: Endpoint
  to?: Endpoint
  edge?: string
  at?: Position
}

export const usePicker = create<{ request: PickRequest | null }>(() => ({ request: null }))

export const openPicker = (request: PickRequest) => !useEditor.getState().readOnly && usePicker.setState({ request })
export const closePicker = () => usePicker.setState({ request: null })
