import { Button } from '@mantine/core'
import { IconArrowRight, IconPlus } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useStore } from 'zustand'
import { readAnew } from '../../api/pages'
import { request } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { Overview } from '../../api/types'
import { useMay } from '../../api/use-may'
import { overviewStore } from '../../live/overview-stream'
import { Chart } from '../../shared/charts/lazy-chart'
import { Failure } from '../../shared/failure'
import { Figure, Unit } from '../../shared/figure'
import { NoProject } from '../../shared/no-project'
import { count, percent, rate, short } from '../../shared/numbers'
import { useRefetchOnChange } from '../../shared/overview'
import { RelativeTime } from '../../shared/relative-time'
import { SectionHead } from '../../shared/section-head'
import { SkeletonBar } from '../../shared/skeleton'
import { hourMinute } from '../../shared/times'
import { useIsWithoutProject } from '../../shared/use-is-without-project'
import { useNow } from '../../shared/use-now'
import { wordsInZone } from '../../shared/words-in-zone'
import { AttentionTable } from './attention-table'
import './home.css'
import './i18n'
import { Examples } from './examples'
import { FailingConnections } from './failing-connections'
import { Lanes } from './lanes'
import { ratesInAll, type RatesInAll } from './rates-in-all'
import { Welcome } from './welcome'

/** Rates of everything that runs, from the live link; what the overview said until it speaks of all. */
function useLiveRates(overview: Overview): RatesInAll {
  const state = useStore(overviewStore, (store) => store.state)
  const now = useNow()
  return useMemo(() => ratesInAll(state, overview, now), [state, overview, now])
}

function Strip({ overview }: { overview: Overview }) {
  const { t } = useTranslation('home')
  const rates = useLiveRates(overview)
  const next = overview.next_starts[0]
  const old = overview.attention.filter((one) => one.kind === 'NO_CHECKPOINT').length
  return (
    <div className="pw-strip">
      <Figure label={t('strip.failing')} {...(overview.failing > 0 ? { glyph: 'failed', tone: 'bad' as const } : {})} note={t('strip.failingNote')}>
        {count(overview.failing)}
      </Figure>
      <Figure label={t('strip.running')} glyph="running" note={t('strip.scheduled', { count: overview.scheduled })}>
        {count(overview.running)}
      </Figure>
      <Figure label={t('strip.rates')} grow={1.5} note={rates.rejected > 0 ? t('strip.rejected', { rate: rate(rates.rejected), share: percent(rates.rejected, rates.in) }) : t('strip.noneRejected')}>
        {rate(rates.in)} <IconArrowRight size={14} aria-label={t('strip.to')} /> {rate(rates.out)}
      </Figure>
      <Figure label={t('strip.stale')} {...(old > 0 ? { glyph: 'stale', tone: 'warn' as const } : {})} note={t('strip.staleNote')}>
        {count(old)}
      </Figure>
      <Figure label={t('strip.next')} grow={1.25} note={next && <span className="pw-mono-11">{next.job_name}</span>}>
        {next ? (
          <>
            {hourMinute(next.next_trigger_time)}{' '}
            <Unit>
              <RelativeTime time={next.next_trigger_time} />
            </Unit>
          </>
        ) : (
          '–'
        )}
      </Figure>
    </div>
  )
}

function LastHour({ overview }: { overview: Overview }) {
  const { t } = useTranslation('home')
  const times = useMemo(() => overview.chart.times.map((time) => Date.parse(time)), [overview.chart.times])
  const values = useMemo(() => [overview.chart.in, overview.chart.out], [overview.chart])
  const rates = useLiveRates(overview)
  const series = useMemo(
    () => [
      { label: t('chart.in'), color: 'chart-in' },
      { label: t('chart.out'), color: 'chart-out' },
    ],
    [t],
  )
  return (
    <div className="pw-home-chart">
      {times.length > 0 ? <Chart title={t('chart.title')} note={t('chart.note')} times={times} values={values} series={series} height={204} format={short} whole now={[rates.in, rates.out]} /> : <SectionHead title={t('chart.title')} note={t('chart.none')} />}
    </div>
  )
}

function NextStarts({ overview }: { overview: Overview }) {
  const { t } = useTranslation(['home', 'shared'])
  return (
    <>
      <SectionHead title={t('next.title')}>
        <Link className="pw-link" to="/jobs?scheduled=true">
          {t('next.all')}
        </Link>
      </SectionHead>
      {overview.next_starts.length === 0 && <p className="pw-home-empty">{t('next.none')}</p>}
      <ul className="pw-next">
        {overview.next_starts.map((one) => (
          <li key={one.job_name}>
            <span className="pw-mono">{hourMinute(one.next_trigger_time)}</span>
            <Link to={`/jobs/${encodeURIComponent(one.job_name)}`} className="pw-mono-11 pw-cut" title={one.title}>
              {one.job_name}
            </Link>
            {one.skipped ? (
              <span className="pw-12 pw-bad pw-cut" title={t('next.skipped', { why: said(one.skipped) })}>
                {t('next.skipped', { why: said(one.skipped) })}
              </span>
            ) : (
              <span className="pw-12 pw-2 pw-cut" title={wordsInZone(t, one)}>
                {wordsInZone(t, one)}
              </span>
            )}
            <span className="pw-12 pw-num">
              <RelativeTime time={one.next_trigger_time} />
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** What is wrong first, what runs second: the whole installation at a glance. */
export default function HomePage() {
  const { t } = useTranslation(['home', 'shared'])
  const found = useQuery({ queryKey: ['overview'], queryFn: () => request<Overview>('GET', '/api/overview'), refetchInterval: 10_000, placeholderData: keepPreviousData })
  useRefetchOnChange(() => readAnew(found))
  const overview = found.data
  const edits = useMay()('EDITOR')
  const alone = useIsWithoutProject()
  const never = overview !== undefined && overview.lanes.length === 0 && overview.attention.length === 0 && overview.connections.length === 0 && overview.running === 0
  return (
    <main className="pw-page">
      <div className="pw-head">
        <h1>{t('title')}</h1>
        {overview && !alone && <span className="pw-12 pw-3">{t('summary', { jobs: t('jobs', { count: overview.jobs }), running: overview.running })}</span>}
        <span className="pw-grow" />
        {edits && (
          <Button component={Link} to="/jobs?new=1" variant="filled" leftSection={<IconPlus size={14} />}>
            {t('newJob')}
          </Button>
        )}
      </div>
      {found.error && <Failure error={found.error} what={t('title')} retry={() => void found.refetch()} />}
      {!overview && !found.error && (
        <div className="pw-strip" aria-busy="true">
          {['a', 'b', 'c', 'd', 'e'].map((key) => (
            <div key={key} className="pw-figure">
              <SkeletonBar width={90} />
            </div>
          ))}
        </div>
      )}
      {overview && !alone && <Strip overview={overview} />}
      {alone && <NoProject />}
      {never && !alone && <Welcome jobs={overview.jobs} />}
      {overview && !never && !alone && (
        <div className="pw-home">
          {overview.attention.length > 0 && <AttentionTable attention={overview.attention} total={overview.attention_count} />}
          {overview.connections.length > 0 && <FailingConnections connections={overview.connections} total={overview.connections_failing} />}
          <section className="pw-home-low">
            <div>
              <LastHour overview={overview} />
              <NextStarts overview={overview} />
              <Examples />
            </div>
            <div>
              <Lanes lanes={overview.lanes} total={overview.lane_count} />
            </div>
          </section>
        </div>
      )}
    </main>
  )
}
