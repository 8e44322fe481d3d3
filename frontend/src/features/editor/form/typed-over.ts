import { EditorView } from '@codemirror/view'

/**
 * What is typed over a selection is put in by the editor itself: Chromium would give it the look of what stood there, in a style
 * attribute, which the page's Content-Security-Policy refuses with a message in the console.
 */
export const typedOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { state } = view
    if (event.inputType !== 'insertText' || !event.data || state.readOnly || view.composing || state.selection.main.empty) return false
    view.dispatch(state.update(state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true }))
    event.preventDefault()
    return true
  },
})
