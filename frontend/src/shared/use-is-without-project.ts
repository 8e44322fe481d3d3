import { useMe } from '../api/use-me'

/** Whether the reader belongs to no project at all. */
export const useIsWithoutProject = (): boolean => useMe().data?.projects.length === 0
