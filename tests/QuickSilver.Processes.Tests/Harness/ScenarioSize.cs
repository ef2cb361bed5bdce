using System.Globalization;

namespace QuickSilver.Processes.Tests.Harness;

// How large the scenarios are: small by default, so that all tests end soon; the environment asks for more.
internal static class ScenarioSize
{
    public static int Lines => Read("QS_LINES", 2000);

    public static int Rounds => Read("QS_ROUNDS", 1);

    public static int Seconds => Read("QS_SECONDS", 4);

    public static int Churns => Read("QS_CHURNS", 12);

    public static int SwarmNodes => Read("QS_SWARM_NODES", 20);

    /// <summary>The messages of each member of a group.</summary>
    public static int GroupMessages => Read("QS_GROUP_MESSAGES", 300);

    public static int Seed => Read("QS_SEED", 1);

    private static int Read(string variable, int otherwise) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text
            ? int.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture)
            : otherwise;
}
