using System.Text;
using QuickSilver.Composition;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// The rights to publish and subscribe to the topics of a run, by the identities that its machines share. Of the topics with a rule, each
// identity lacks a right from time to time; topics without one are everybody's.
internal sealed class DrawnRights : ITopicRights
{
    private const int Identities = 4;
    private const double RestrictedShare = 0.5;
    private const double LackingShare = 0.35;

    private readonly Dictionary<string, Rule> _rules = new(StringComparer.Ordinal);
    private readonly Dictionary<ulong, Rule> _byId = [];

    // By the numbers of identities.
    private sealed record Rule(bool[] Publish, bool[] Subscribe);

    /// <param name="seed">Of the run.</param>
    /// <param name="topics">The names of topics. The first of them are everybody's, so that everyone has something to do.</param>
    public DrawnRights(ulong seed, IReadOnlyList<string> topics)
    {
        var random = SeededRandom.Derive(seed, purpose: 33, owner: 0);
        foreach (string topic in topics.Skip(1))
        {
            if (random.Chance(RestrictedShare))
            {
                var rule = new Rule(Draw(random), Draw(random));
                _rules.Add(topic, rule);
                _byId.Add(TopicId.Of(topic), rule);
            }
        }
    }

    /// <summary>The identity with which a machine connects.</summary>
    public static string IdentityOf(int machine) => $"who {NumberOf(machine)}";

    /// <summary>The same rules as those of a file.</summary>
    public ITopicAccess ToFile()
    {
        var text = new StringBuilder("{ \"rules\": [");
        foreach (var (topic, rule) in _rules)
        {
            text.Append($"{{ \"topic\": \"{topic}\", \"publish\": [{Names(rule.Publish)}], \"subscribe\": [{Names(rule.Subscribe)}] }},");
        }

        return TopicRules.Parse(text.Append("] }").ToString(), "a file");
    }

    public bool MayPublish(int machine, ulong topic) => !_byId.TryGetValue(topic, out var rule) || rule.Publish[NumberOf(machine)];

    public bool MaySubscribe(int machine, ulong topic) => !_byId.TryGetValue(topic, out var rule) || rule.Subscribe[NumberOf(machine)];

    bool ITopicRights.MayPublish(string identity, string topic) =>
        !_rules.TryGetValue(topic, out var rule) || Has(rule.Publish, identity);

    bool ITopicRights.MaySubscribe(string identity, string topic) =>
        !_rules.TryGetValue(topic, out var rule) || Has(rule.Subscribe, identity);

    private static int NumberOf(int machine) => machine % Identities;

    private static bool Has(bool[] has, string identity)
    {
        for (int i = 0; i < Identities; i++)
        {
            if (has[i] && IdentityOf(i) == identity)
            {
                return true;
            }
        }

        return false;
    }

    private static bool[] Draw(SeededRandom random) => [.. Enumerable.Range(0, Identities).Select(_ => !random.Chance(LackingShare))];

    private static string Names(bool[] has) =>
        string.Join(", ", Enumerable.Range(0, Identities).Where(one => has[one]).Select(one => $"\"{IdentityOf(one)}\""));
}
