import { IconSearch } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Me } from '../../api/types'
import { Crumbs } from './crumbs'
import { LiveLink } from './live-link'
import { UserMenu } from './user-menu'

/** Crumbs, search, the live link and the user. */
export function TopBar({ me, onSearch }: { me: Me | undefined; onSearch: () => void }) {
  const { t } = useTranslation()
  return (
    <header className="pw-top">
      <nav className="pw-crumbs" aria-label={t('where')}>
        <Crumbs />
      </nav>
      <button type="button" className="pw-search" onClick={onSearch}>
        <IconSearch size={14} stroke={1.75} aria-hidden />
        <span className="pw-grow pw-cut">{t('search')}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div className="pw-top-end">
        <LiveLink />
        <span className="pw-sep" />
        <UserMenu me={me} />
      </div>
    </header>
  )
}
