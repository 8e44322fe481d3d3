import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'react-router'
import { useStore } from 'zustand'
import { readExecution } from '../../api/read-execution'
import { overviewStore } from '../../live/overview-stream'

/** The job of an execution: by the live link, or asked for, since the link only tells of the latest. */
function useJobOf(executionId: string): string | undefined {
  const heard = useStore(overviewStore, (overview) => overview.state.executions[executionId]?.job_name)
  const asked = useQuery({ queryKey: ['execution', executionId, 0], queryFn: () => readExecution(executionId), enabled: executionId !== '' && heard === undefined, staleTime: Infinity, retry: false })
  return heard ?? asked.data?.job_name
}

/** Where one is: place, and the job or execution in it. */
export function Crumbs() {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const [place = '', name = ''] = pathname.split('/').filter(Boolean).map(decodeURIComponent)
  const isExecution = place === 'executions'
  const job = useJobOf(isExecution ? name : '')
  const word = place === '' ? 'home' : place
  if (!name) return <b>{t(word)}</b>
  return (
    <>
      <Link to={`/${place}`}>{t(word)}</Link>
      <span aria-hidden>/</span>
      {job && (
        <>
          <Link to={`/jobs/${encodeURIComponent(job)}`} className="pw-cut" title={job}>
            {job}
          </Link>
          <span aria-hidden>/</span>
        </>
      )}
      <b className={isExecution ? 'pw-crumb-whole' : 'pw-cut'} title={name}>
        {isExecution ? t('execution', { id: name.slice(0, 8) }) : name}
      </b>
    </>
  )
}
