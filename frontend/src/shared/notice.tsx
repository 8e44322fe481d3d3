import type { ReactNode } from 'react'
import { StateGlyph } from './state-glyph'

interface Props {
  title: string
  children?: ReactNode
  acts?: ReactNode
  glyph?: string
  /** In the middle of an otherwise empty page. */
  page?: boolean
}

/** What is missing or went wrong, and the next act; it stays in its own panel. */
export function Notice({ title, children, acts, glyph, page = false }: Props) {
  return (
    <div className={`pw-notice${page ? ' pw-notice-page' : ''}`} role={glyph === 'failed' ? 'alert' : undefined}>
      <h3>
        {glyph && <StateGlyph state={glyph} />}
        {title}
      </h3>
      {children && <p>{children}</p>}
      {acts && <div className="pw-notice-acts">{acts}</div>}
    </div>
  )
}
