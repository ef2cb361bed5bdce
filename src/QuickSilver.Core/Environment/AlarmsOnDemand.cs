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

    /// <summary>Has a pending alarm fire so much later; does nothing for one that is not pending or was never made.</summary>
    public static void PutOff(this INodeEnvironment environment, Alarm? alarm, TimeSpan by)
    {
        if (alarm is { IsPending: true })
        {
            var left = alarm.Due - environment.Now + by;
            environment.Schedule(alarm, left > TimeSpan.Zero ? left : TimeSpan.Zero);
        }
    }
}
