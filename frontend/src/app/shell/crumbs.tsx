import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'react-router'
import { useStore } from 'zustand'
import type { Execution } from '../../api/types'
import { overviewStore } from '../../live/overview-stream'

/** Where one is: place, and the job or execution in it. */
export function Crumbs() {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const queries = useQueryClient()
  const [place = '', name = ''] = pathname.split('/').filter(Boolean).map(decodeURIComponent)
  const heard = useStore(overviewStore, (overview) => (place === 'executions' ? overview.state.executions[name] : undefined))
  const execution = heard ?? queries.getQueryData<Execution>(['execution', name])
  const word = place === '' ? 'home' : place
  if (!name) return <b>{t(word)}</b>
  return (
    <>
      <Link to={`/${place}`}>{t(word)}</Link>
      <span aria-hidden>/</span>
      {execution && (
        <>
          <Link to={`/jobs/${encodeURIComponent(execution.job_name)}`} className="pw-cut">
            {execution.job_name}
          </Link>
          <span aria-hidden>/</span>
        </>
      )}
      <b className="pw-cut" title={name}>
        {place === 'executions' ? t('execution', { id: name.slice(0, 8) }) : name}
      </b>
    </>
  )
}
