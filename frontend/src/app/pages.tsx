import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, Route, Routes } from 'react-router'
import { Notice } from '../shared/notice'
import { Shell } from './shell/shell'

const HomePage = lazy(() => import('../features/home/home-page'))
const JobsPage = lazy(() => import('../features/jobs/jobs-page'))
const EditorPage = lazy(() => import('../features/editor/editor-page'))
const ExecutionsPage = lazy(() => import('../features/executions/executions-page'))
const ExecutionPage = lazy(() => import('../features/executions/execution-page'))
const CheckpointsPage = lazy(() => import('../features/checkpoints/checkpoints-page'))
const ConnectionsPage = lazy(() => import('../features/connections/connections-page'))

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
      <Suspense fallback={null}>
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
