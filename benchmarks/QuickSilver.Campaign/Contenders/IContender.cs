namespace QuickSilver.Campaign.Contenders;

internal interface IContender
{
    string Name { get; }

    bool IsOwn { get; }

    /// <summary>The command that repeats a run by hand; what has to run on other nodes meanwhile is indented below it.</summary>
    string Command(Load load, int seconds);

    Measurement Run(Load load, int seconds);
}
