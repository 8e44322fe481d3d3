import type { ReactNode } from 'react'

interface Props {
  title: string
  note?: ReactNode
  count?: number | string | undefined
  children?: ReactNode
}

/** A panel's title line: title, count, note, and acts at the right. */
export function SectionHead({ title, note, count, children }: Props) {
  return (
    <div className="pw-section-head">
      <h2>{title}</h2>
      {count !== undefined && <span className="pw-count">{count}</span>}
      {note && <span className="pw-11 pw-3 pw-cut">{note}</span>}
      <span className="pw-grow" />
      {children}
    </div>
  )
}
