using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// Requests between processes: a responder that is killed in the middle gives a typed error long before the deadline, and the next one
// answers. I19, I21 under F4.
public sealed class RequestScenarios
{
    // What a request has: far more than the failure detector takes.
    private const int Patience = 300_000;

    [Fact]
    public void A_responder_that_is_killed_in_the_middle_gives_a_typed_error_and_another_one_answers()
    {
        using var run = new StreamNodes(4);
        var victim = run.Node(2);
        StreamNodes.Do(victim, $"respond work {Patience}", "responds work");
        var asking = run.Node(3);
        StreamNodes.Do(asking, $"ask work {Patience}", "asked work");
        victim.Send(ProcessSignal.Kill);
        StreamNodes.WaitFor(asking, "failed work ResponderLeftException");

        var next = run.Node(4);
        StreamNodes.Do(next, "respond work 0", "responds work");
        StreamNodes.Do(asking, $"ask work {Patience}", "answered work");
        foreach (var process in (NodeProcess[])[asking, next])
        {
            process.CloseInput();
            process.ExpectExit(0);
        }
    }
}
