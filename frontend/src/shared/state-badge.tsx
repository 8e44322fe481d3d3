import { StateGlyph } from './state-glyph'
import { useStateWord } from './state-word'

/** A state: glyph, word, colour. `word` where it is not the state's own. */
export function StateBadge({ state, word }: { state: string; word?: string }) {
  const said = useStateWord()
  return (
    <span className={`pw-state pw-state-${state.toLowerCase()}`}>
      <StateGlyph state={state} />
      {word ?? said(state)}
    </span>
  )
}
