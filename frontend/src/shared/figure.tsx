import type { ReactNode } from 'react'
import { StateGlyph } from './state-glyph'

interface Props {
  label: string
  glyph?: string
  children: ReactNode
  note?: ReactNode
  /** Share of the strip's width. */
  grow?: number
  tone?: 'bad' | 'warn'
}

/** One figure of a strip: label, value, a line under it. */
export function Figure({ label, glyph, children, note, grow = 1, tone }: Props) {
  return (
    <div className="pw-figure" style={{ flexGrow: grow }}>
      <div className="pw-figure-label">
        {glyph && <StateGlyph state={glyph} />}
        {label}
      </div>
      <div className={`pw-figure-value${tone ? ` pw-${tone}` : ''}`}>{children}</div>
      <div className="pw-figure-note">{note}</div>
    </div>
  )
}

export const Unit = ({ children }: { children: ReactNode }) => <span className="pw-unit">{children}</span>
