import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { SectionHead } from '../../shared/section-head'
import { useExamples } from '../../shared/use-examples'
import { RunOrOpen } from './run-or-open'

/** The example jobs stay at hand for as long as there are any, one line each. */
export function Examples() {
  const { t } = useTranslation(['home', 'shared'])
  const examples = useExamples()
  if (examples.length === 0) return null
  return (
    <section aria-label={t('examples.title')}>
      <SectionHead title={t('examples.title')} note={t('examples.note')} />
      <ul className="pw-home-examples">
        {examples.map((job) => (
          <li key={job.job_name}>
            <Link to={`/jobs/${encodeURIComponent(job.job_name)}`} className="pw-cut" title={job.description || job.title}>
              {job.title || job.job_name}
            </Link>
            <span className="pw-12 pw-3 pw-cut">{t(`shared:jobType.${job.job_type}`)}</span>
            <RunOrOpen job={job} />
          </li>
        ))}
      </ul>
    </section>
  )
}
