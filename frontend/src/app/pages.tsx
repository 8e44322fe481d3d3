import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, Route, Routes } from 'react-router'
import { later } from '../shared/later'
import { Notice } from '../shared/notice'
import { Awaited } from './awaited'
import { Shell } from './shell/shell'

const HomePage = later(() => import('../features/home/home-page'))
const JobsPage = later(() => import('../features/jobs/jobs-page'))
const EditorPage = later(() => import('../features/editor/editor-page'))
const ExecutionsPage = later(() => import('../features/executions/executions-page'))
const ExecutionPage = later(() => import('../features/executions/execution-page'))
const CheckpointsPage = later(() => import('../features/checkpoints/checkpoints-page'))
const ConnectionsPage = later(() => import('../features/connections/connections-page'))

function NoSuchPage() {
  const { t } = useTranslation('app')
  return (
    <main>
      <Notice page glyph="warning" title={t('noSuchPage')} acts={<Link className="pw-link" to="/">{t('home')}</Link>}>
        {t('noSuchPageHelp')}
      </Notice>
    </main>
  )
}

/** Every address of the interface and the page behind it. */
export function Pages() {
  return (
    <Shell>
      <Suspense fallback={<Awaited />}>
        <Routes>
          <Route path="/" element={<HomePage />} />
          <Route path="/jobs" element={<JobsPage />} />
          <Route path="/jobs/:jobName" element={<EditorPage />} />
          <Route path="/executions" element={<ExecutionsPage />} />
          <Route path="/executions/:executionId" element={<ExecutionPage />} />
          <Route path="/checkpoints" element={<CheckpointsPage />} />
          <Route path="/connections" element={<ConnectionsPage />} />
          <Route path="*" element={<NoSuchPage />} />
        </Routes>
      </Suspense>
    </Shell>
  )
}
