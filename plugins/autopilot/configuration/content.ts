import type { Configuration } from './fields.ts'

/** Whether an admin has allowed that contents of this user, or of calls in this project, go to other providers. */
export const allowsContent = (
  { users, projects }: Configuration['content'],
  user: string | undefined,
  project: string,
): boolean => (user !== undefined && users.includes(user)) || projects.includes(project)
