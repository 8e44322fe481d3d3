/** Names of today that browsers list by their old ones only, such as Asia/Calcutta. */
const RENAMED = ['Africa/Asmara', 'America/Argentina/Buenos_Aires', 'America/Nuuk', 'Asia/Ho_Chi_Minh', 'Asia/Kathmandu', 'Asia/Kolkata', 'Asia/Yangon', 'Atlantic/Faroe', 'Europe/Kyiv', 'Pacific/Chuuk', 'Pacific/Kanton', 'Pacific/Pohnpei']

const NAMED = [...new Set([...Intl.supportedValuesOf('timeZone'), ...RENAMED])].filter((zone) => zone !== 'UTC').sort()

/** The time zones to choose from, with the one that is chosen already whatever it is called. */
export const timeZones = (chosen: string): string[] => ['UTC', ...(chosen === 'UTC' || chosen === '' || NAMED.includes(chosen) ? NAMED : [chosen, ...NAMED])]
