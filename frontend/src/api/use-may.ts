import type { Me } from './types'
import { useMe } from './use-me'

export type Role = Me['projects'][number]['role']

/** Each may do all that those before it may. */
const ORDER: readonly Role[] = ['VIEWER', 'OPERATOR', 'EDITOR', 'ADMIN']

export const covers = (role: Role | undefined, needed: Role): boolean => role !== undefined && ORDER.indexOf(role) >= ORDER.indexOf(needed)

/** Whether the reader may do in a project what needs a role; without a project, in any of theirs. Until the server has said so: no. */
export function useMay(): (needed: Role, project?: string) => boolean {
  const projects = useMe().data?.projects ?? []
  return (needed, project) => projects.some(({ slug, role }) => (project === undefined || slug === project) && covers(role, needed))
}
