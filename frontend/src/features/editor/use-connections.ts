import { useQuery } from '@tanstack/react-query'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import { useConnectionAsked } from '../../shared/connection-asked'
import { readJob } from './draft-requests'
import { useEditor } from './editor-store'
import type { FormHelp } from './form/form-context'

type Connections = NonNullable<FormHelp['connections']>

/** Names and kinds of the connections a node may refer to, those of the job's project, which are undefined until they are known; and how one more is made. */
export function useConnections(): Pick<FormHelp, 'connections' | 'connect'> {
  const jobName = useEditor((state) => state.jobName)
  const project = useQuery({ queryKey: ['job-head', jobName], queryFn: () => readJob(jobName), enabled: jobName !== '' }).data?.project
  const { data } = useQuery({
    queryKey: ['connections', 'names', project],
    queryFn: async () => (await request<{ results: Connections }>('GET', withQuery('/api/connections', { project }))).results,
    enabled: project !== undefined,
    staleTime: 30_000,
  })
  const connect: FormHelp['connect'] = (kinds, then) => useConnectionAsked.setState({ asked: { name: '', kinds, config: {}, project: project ?? '', after: then } })
  return { connections: data, connect }
}
