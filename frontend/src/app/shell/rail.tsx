import { Tooltip } from '@mantine/core'
import { IconBookmark, IconHome, IconKeyboard, IconListDetails, IconPlayerPlay, IconPlug } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { NavLink } from 'react-router'
import { useStore } from 'zustand'
import { overviewStore } from '../../live/overview-stream'

const PLACES = [
  { to: '/', word: 'home', Icon: IconHome },
  { to: '/jobs', word: 'jobs', Icon: IconListDetails },
  { to: '/executions', word: 'executions', Icon: IconPlayerPlay },
  { to: '/checkpoints', word: 'checkpoints', Icon: IconBookmark },
  { to: '/connections', word: 'connections', Icon: IconPlug },
] as const

function Mark() {
  return (
    <svg width="22" height="14" viewBox="0 0 22 14" aria-hidden>
      <path d="M6.5 1.5H5a5.5 5.5 0 0 0 0 11h1.5z" fill="var(--text)" />
      <rect x="8" y="1.5" width="6" height="11" fill="var(--accent)" />
      <path d="M15.5 1.5H17a5.5 5.5 0 0 1 0 11h-1.5z" fill="var(--text)" />
    </svg>
  )
}

/** The places of the interface, and how much runs just now. */
export function Rail({ onShortcuts }: { onShortcuts: () => void }) {
  const { t } = useTranslation()
  const running = useStore(overviewStore, (overview) => Object.values(overview.state.executions).filter((one) => one.status === 'RUNNING' || one.status === 'INITIALIZING').length)
  return (
    <aside className="pw-rail">
      <NavLink to="/" className="pw-rail-logo" aria-label="Pipeline Web">
        <Mark />
        <span className="pw-rail-word">Pipeline Web</span>
      </NavLink>
      <nav aria-label={t('places')}>
        {PLACES.map(({ to, word, Icon }) => (
          <NavLink key={to} to={to} end={to === '/'} className={({ isActive }) => `pw-rail-place${isActive ? ' pw-rail-on' : ''}`} title={t(word)}>
            <Icon size={16} stroke={1.75} aria-hidden />
            <span className="pw-rail-word">{t(word)}</span>
            {to === '/executions' && running > 0 && <span className="pw-rail-count">{running}</span>}
          </NavLink>
        ))}
      </nav>
      <div className="pw-rail-foot">
        <Tooltip label={t('shortcuts')} position="right">
          <button type="button" className="pw-rail-place" onClick={onShortcuts} aria-label={t('shortcuts')}>
            <IconKeyboard size={16} stroke={1.75} aria-hidden />
            <span className="pw-rail-word">{t('shortcuts')}</span>
            <span className="pw-rail-count">?</span>
          </button>
        </Tooltip>
      </div>
    </aside>
  )
}
