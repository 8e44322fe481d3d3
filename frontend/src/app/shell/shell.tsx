import { Suspense, useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'react-router'
import { ApiError } from '../../api/request'
import { useMe } from '../../api/use-me'
import { followOverview } from '../../live/overview-stream'
import { AnswerList } from '../../shared/answer-list'
import { useConnectionAsked } from '../../shared/connection-asked'
import { later } from '../../shared/later'
import { useStartAsked } from '../../shared/start-asked'
import { CommandSearch } from './command-search'
import { PageBoundary } from './page-boundary'
import { Rail } from './rail'
import './shell.css'
import { ShortcutSheet } from './shortcut-sheet'
import { TopBar } from './top-bar'
import { useGlobalKeys } from './use-global-keys'

const AskedConnection = later(() => import('../../features/connections/asked-connection'))
const StartDialog = later(() => import('../../shared/start-dialog'))

/** Rail, top bar and the page; one live socket for all of them. Without a session the server's sign-in page takes over. */
export function Shell({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const { pathname, search, hash } = useLocation()
  const [searching, setSearching] = useState(false)
  const [sheet, setSheet] = useState(false)
  const asked = useStartAsked((state) => state.asked)
  const connection = useConnectionAsked((state) => state.asked)
  const me = useMe()
  const signedOut = me.error instanceof ApiError && (me.error.status === 401 || me.error.status === 403)
  useEffect(() => {
    if (signedOut) location.assign(`/sign-in?next=${encodeURIComponent(pathname + search + hash)}`)
  }, [signedOut, pathname, search, hash])
  const signedIn = me.data !== undefined
  useEffect(() => (signedIn ? followOverview() : undefined), [signedIn])
  useGlobalKeys({ search: () => setSearching(true), sheet: () => setSheet(true) })
  const wide = !/^\/(jobs|executions)\/[^/]+/.test(pathname)
  return (
    <div className={`pw-app${wide ? ' pw-app-wide' : ''}`}>
      <a className="pw-skip" href="#page">
        {t('skip')}
      </a>
      <Rail onShortcuts={() => setSheet(true)} />
      <TopBar me={me.data} onSearch={() => setSearching(true)} />
      <div id="page" className="pw-body" tabIndex={-1}>
        <PageBoundary key={pathname}>{children}</PageBoundary>
      </div>
      {asked && (
        <Suspense fallback={null}>
          <StartDialog asked={asked} />
        </Suspense>
      )}
      {connection && (
        <Suspense fallback={null}>
          <AskedConnection asked={connection} />
        </Suspense>
      )}
      <AnswerList />
      <CommandSearch opened={searching} onClose={() => setSearching(false)} onShortcuts={() => setSheet(true)} />
      <ShortcutSheet opened={sheet} onClose={() => setSheet(false)} />
    </div>
  )
}
