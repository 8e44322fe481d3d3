import type { ReactNode } from 'react'

/** Each state has its own glyph, so that colour is never the only sign. 12 px. */
const GLYPHS: Record<string, ReactNode> = {
  scheduled: (
    <>
      <circle cx="6" cy="6" r="4.6" fill="none" strokeWidth="1.4" />
      <path d="M6 3.6V6l1.7 1.1" fill="none" strokeWidth="1.4" strokeLinecap="round" />
    </>
  ),
  initializing: <path d="M6 1.4A4.6 4.6 0 1 1 1.6 7.4" fill="none" strokeWidth="1.7" strokeLinecap="round" />,
  running: <path d="M3.2 1.9v8.2L10 6z" strokeWidth="1" strokeLinejoin="round" />,
  checkpointing: <path d="M3 1.2h6v9.6L6 8.3 3 10.8z" strokeWidth=".8" strokeLinejoin="round" />,
  paused: <path d="M4 2.5v7M8 2.5v7" fill="none" strokeWidth="1.8" strokeLinecap="round" />,
  completed: <path d="M2.2 6.4l2.6 2.6L9.9 3.4" fill="none" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" />,
  failed: (
    <>
      <path d="M3.8.8h4.4l3 3v4.4l-3 3H3.8l-3-3V3.8z" />
      <path d="M4.3 4.3l3.4 3.4M7.7 4.3L4.3 7.7" stroke="var(--surface-raised)" strokeWidth="1.4" strokeLinecap="round" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="6" cy="6" r="4.6" fill="none" strokeWidth="1.4" />
      <path d="M2.9 9.1L9.1 2.9" fill="none" strokeWidth="1.4" />
    </>
  ),
  expired: <path d="M2.5 6h7" fill="none" strokeWidth="1.8" strokeLinecap="round" />,
  stale: (
    <>
      <circle cx="6" cy="6" r="4.7" fill="none" strokeWidth="1.3" strokeDasharray="2 1.3" />
      <path d="M6 3.4v3" strokeWidth="1.5" strokeLinecap="round" />
      <circle cx="6" cy="8.6" r=".85" />
    </>
  ),
  warning: (
    <>
      <path d="M6 1.2l5.2 9.3H.8z" strokeWidth="1" strokeLinejoin="round" />
      <path d="M6 4.6v2.8" stroke="var(--surface-raised)" strokeWidth="1.3" strokeLinecap="round" />
      <circle cx="6" cy="9" r=".75" fill="var(--surface-raised)" />
    </>
  ),
}
const ALIASES: Record<string, string> = { pending: 'checkpointing', damaged: 'warning' }

interface Props {
  state: string
  label?: string
  size?: number
}

export function StateGlyph({ state, label, size = 12 }: Props) {
  const name = state.toLowerCase()
  const drawn = GLYPHS[ALIASES[name] ?? name] ?? GLYPHS.scheduled
  return (
    <svg className={`pw-glyph pw-glyph-${name}${name === 'initializing' ? ' pw-spin' : ''}`} viewBox="0 0 12 12" width={size} height={size} role={label ? 'img' : undefined} aria-label={label} aria-hidden={label ? undefined : true}>
      {drawn}
    </svg>
  )
}
