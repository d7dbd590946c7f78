import { z } from 'zod'

/** The setting of a module that shares answers: the circle that a caller shares them with. */
export const answerSharing = z.enum(['user', 'project', 'tenant', 'everyone']).default('user').meta({
  title: 'Sharing',
  description:
    'Who shares answers: one user, all users of a project, all users of a tenant, or everyone. Two tenants never share answers.',
})
