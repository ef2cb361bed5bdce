using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// What goes wrong with the servers of a membership service and with their store (F14): one after another, a server is cut off from it, or
// all are; it answers late; it is not read and keeps nothing while the service begins again; a server dies or stands still.
internal static class StoreCourses
{
    private const double AllShare = 0.2;

    private static readonly TimeSpan LongestDelay = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan LongestDeath = TimeSpan.FromMilliseconds(500);

    public static void Add(FaultSchedule schedule, FaultPlan plan, int[] servers, SeededRandom random)
    {
        for (var at = plan.From; at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            // Longer than a lease lasts, at times.
            var end = at + random.UpTo(plan.LongestFault * 2);
            end = end < plan.Until ? end : plan.Until;
            int[] victims = random.Chance(AllShare) ? servers : [servers[random.Below(servers.Length)]];
            string who = string.Join(',', victims);
            switch (random.Below(5))
            {
                case 0:
                    Fail(schedule, at, end, victims, StoreFaults.Unreachable, $"the store does not answer the servers {who}");
                    break;
                case 1:
                    var delay = random.UpTo(LongestDelay);
                    Fail(schedule, at, end, victims, StoreFaults.None, $"the store answers the servers {who} up to {delay:c} late", delay);
                    break;
                case 2:
                    var refused = random.Chance(0.5) ? StoreFaults.RefusesSaves : StoreFaults.RefusesLoads | StoreFaults.RefusesSaves;
                    Fail(schedule, at, end, victims, refused, $"the store of the servers {who}: {refused}");
                    EndAndBegin(schedule, at, end, victims, random);
                    break;
                case 3:
                    EndAndBegin(schedule, at, end, victims, random);
                    break;
                default:
                    schedule.Add(at, "F6", $"the servers {who} stand still", c => ForEach(c, victims, server => server.Pause(end - at)));
                    break;
            }

            at = end;
        }
    }

    private static void Fail(
        FaultSchedule schedule, TimeSpan at, TimeSpan end, int[] victims, StoreFaults faults, string description, TimeSpan delay = default)
    {
        schedule.Add(at, "F14", description, c => ForEach(c, victims, server =>
        {
            server.Faults.Store = faults;
            server.Faults.StoreDelay = delay;
        }));
        schedule.Add(end, "F14", "the store works again", c => ForEach(c, victims, server =>
        {
            server.Faults.Store = StoreFaults.None;
            server.Faults.StoreDelay = TimeSpan.Zero;
        }));
    }

    private static void EndAndBegin(FaultSchedule schedule, TimeSpan at, TimeSpan end, int[] victims, SeededRandom random)
    {
        var dies = at + random.UpTo(end - at);
        var begins = dies + random.UpTo(LongestDeath);
        bool silently = random.Chance(0.3);
        string who = string.Join(',', victims);
        string how = silently ? "lose power" : "crash";
        schedule.Add(dies, "F14", $"the servers {who} {how}", c => ForEach(c, victims, server => server.Crash(silently)));
        schedule.Add(begins < end ? begins : end, "F14", $"the servers {who} begin again", c => ForEach(c, victims, server =>
        {
            if (!server.IsUp)
            {
                server.Restart();
            }
        }));
    }

    private static void ForEach(SimulatedMachines machines, int[] numbers, Action<SimulatedMachine> action) =>
        Array.ForEach(numbers, number => action(machines.Nodes[number]));
}
