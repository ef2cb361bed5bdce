using System.Runtime.InteropServices;
using QuickSilver.Campaign.Contenders;
using QuickSilver.Campaign.Contenders.Testbeds;
using QuickSilver.Campaign.Report;

namespace QuickSilver.Campaign;

// Round by round, and within a round section by section, every contender once: what the machine does meanwhile hits all alike.
internal sealed class CampaignRun(CampaignPlan plan)
{
    private const int Interrupted = 130;

    private readonly Namespaces _namespaces = new(plan.Peers);
    private volatile bool _isStopped;

    public int Run()
    {
        if (!Qsm.IsBuilt)
        {
            Console.Error.WriteLine($"{Qsm.Executable} is not built.");
            return 2;
        }

        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
        using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        string loadAtStart = MachineFacts.LoadAverage();
        var sections = new CampaignSections(plan, _namespaces).List();
        for (int round = 1; round <= plan.Rounds && !_isStopped; round++)
        {
            foreach (var section in sections)
            {
                RunSection(section, round);
            }
        }

        if (_isStopped)
        {
            return Interrupted;
        }

        new PerformancePage(plan, sections, loadAtStart).Write();
        Console.Out.WriteLine($"written: {plan.Output.FullName}");
        var own = sections.SelectMany(section => section.Rows).Where(row => row.Contender.IsOwn).Select(row => row.Runs);
        return own.All(runs => runs.Lost == 0 && runs.Failed == 0) ? 0 : 1;
    }

    private void RunSection(Section section, int round)
    {
        try
        {
            // A machine that slows down under load is unfair to later runs: each runs later as often as earlier.
            var rows = round % 2 == 0 ? section.Rows.Reverse() : section.Rows;
            foreach (var row in rows.TakeWhile(_ => !_isStopped))
            {
                var run = row.Contender.Run(section.Load, plan.Seconds);
                row.Runs.Add(run);
                Console.Error.WriteLine($"round {round}/{plan.Rounds}  {section.Load,-12} {row.Contender.Name,-20} {run}");
            }
        }
        finally
        {
            _namespaces.Up(section.Load.Receivers, Namespaces.UsualMtu);
        }
    }

    // Not at once: the programs are ended, the run fails and the namespaces become what they were. A second signal waits for nothing.
    private void Stop(PosixSignalContext context)
    {
        context.Cancel = !_isStopped;
        _isStopped = true;
        Shell.EndAll();
    }
}
