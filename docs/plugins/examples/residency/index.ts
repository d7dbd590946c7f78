import { defineModule } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    projects: z.record(z.string(), z.array(z.string())).default({}).meta({
      title: 'Projects',
      description: 'The regions in which calls of a project may be answered, by the name of the project.',
    }),
  }),

  setup({ settings }) {
    const projects = new Map(Object.entries(settings.projects))
    return {
      eligible({ local, region }, { context }) {
        const regions = projects.get(context.project)
        if (!regions || local || (region !== undefined && regions.includes(region))) return undefined
        return `it is ${region === undefined ? 'in a region that is not known' : `in ${region}`}`
      },
      prefers: ({ local }, { context }) => (local && projects.has(context.project) ? 1 : 0),
    }
  },
})
