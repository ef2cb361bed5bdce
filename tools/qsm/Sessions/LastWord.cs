using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Tool.Sessions;

// A service that ends has sent its last word. The nodes read it, and close their sessions.
internal static class LastWord
{
    private static readonly TimeSpan Limit = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(10);

    /// <summary>Calls back when no session is left, or after a moment. On the core thread.</summary>
    public static void Await(INodeEnvironment environment, Func<int> sessionCount, Action read)
    {
        var left = Limit;
        Alarm alarm = null!;
        alarm = new Alarm(Look);
        Look();

        void Look()
        {
            if (sessionCount() > 0 && left > TimeSpan.Zero)
            {
                left -= Interval;
                environment.Schedule(alarm, Interval);
                return;
            }

            read();
        }
    }
}
