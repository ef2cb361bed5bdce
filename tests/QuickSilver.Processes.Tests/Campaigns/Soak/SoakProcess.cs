using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Campaigns.Servers;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Soak;

// A process of nodes, which answers one line for each question.
internal sealed class SoakProcess : LoggedProcess
{
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Again = TimeSpan.FromMilliseconds(100);
    private readonly object _lock = new();
    private string? _answer;

    public SoakProcess(NetworkNamespaces network, int node, params IEnumerable<string> arguments)
        : base(network, node, Programs.ChurnNode, arguments)
    {
        BeginReading();
        Await("ready");
    }

    /// <summary>Asks, and waits for a line that begins with the words; returns what follows them.</summary>
    public string[] Ask(string question, string words)
    {
        Tell(question);
        return Await(words);
    }

    /// <summary>Asks again until the answer is good, for a limited time; returns the last answer.</summary>
    public string[] AskUntil(string question, string words, Predicate<string[]> isGood)
    {
        long begun = Stopwatch.GetTimestamp();
        string[] answer = Ask(question, words);
        while (!isGood(answer) && Stopwatch.GetElapsedTime(begun) < AnswerLimit)
        {
            Thread.Sleep(Again);
            answer = Ask(question, words);
        }

        return answer;
    }

    public HeldSample Measure()
    {
        string[] words = Ask("measure", "footprint");
        return new HeldSample(Number(words[0]), (int)Number(words[1]), (int)Number(words[2]));
    }

    public static long Number(string word) => long.Parse(word, CultureInfo.InvariantCulture);

    protected override void OnOutput(string line, long at)
    {
        lock (_lock)
        {
            _answer = line;
            Monitor.PulseAll(_lock);
        }
    }

    private string[] Await(string words)
    {
        lock (_lock)
        {
            while (_answer is null || !_answer.StartsWith(words, StringComparison.Ordinal))
            {
                if (!Monitor.Wait(_lock, NodeProcess.Patience))
                {
                    throw new TimeoutException($"node {Node} did not say '{words}':\n{Tail}");
                }
            }

            string answer = _answer[words.Length..].Trim();
            _answer = null;
            return answer.Split(' ');
        }
    }
}
