import { StateGlyph } from './state-glyph'

/** A state as the API says it, in capitals: glyph, word, colour. */
export function StateBadge({ state, word }: { state: string; word?: string }) {
  return (
    <span className={`pw-state pw-state-${state.toLowerCase()}`}>
      <StateGlyph state={state} />
      {word ?? state}
    </span>
  )
}
