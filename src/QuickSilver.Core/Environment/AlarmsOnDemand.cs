using QuickSilver.Core.Alarms;

namespace QuickSilver.Core.Environment;

// For alarms that are made when they are first set: most of a node's wait for what never happens, and each is 136 bytes.
internal static class AlarmsOnDemand
{
    /// <summary>As <see cref="INodeEnvironment.Cancel"/>; does nothing for one that was never made.</summary>
    public static void CancelIfMade(this INodeEnvironment environment, Alarm? alarm)
    {
        if (alarm is not null)
        {
            environment.Cancel(alarm);
        }
    }
}
