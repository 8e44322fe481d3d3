import type { Job } from '../../api/types'
import { ConfigDialog } from './config-dialog'
import { DeleteDialog } from './delete-dialog'
import type { JobDialog } from './job-actions'
import { ResetDialog } from './reset-dialog'
import { ScheduleDialog } from './schedule-dialog'

/** What one asks of a single job, one dialog for each `kind`; `onDone` once the job is another. */
export default function JobDialogs({ job, kind, onClose, onDone }: { job: Job; kind: JobDialog; onClose: () => void; onDone: () => void }) {
  switch (kind) {
    case 'schedule':
      return <ScheduleDialog job={job} onClose={onClose} onDone={onDone} />
    case 'config':
      return <ConfigDialog job={job} onClose={onClose} />
    case 'reset':
      return <ResetDialog job={job} onClose={onClose} onDone={onDone} />
    case 'delete':
      return <DeleteDialog job={job} onClose={onClose} onDone={onDone} />
  }
}
