using System.Collections.Immutable;
using System.Text.Json;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service.Access;

namespace QuickSilver.Composition;

// The rules of a file: for each topic the longest pattern that fits, which is the topic's name, the beginning of it up to a slash, or a
// star for all. For a topic without a rule, all identities have all rights.
internal sealed class TopicRules : ITopicAccess
{
    private const string Everybody = "*";
    private const string EveryTopic = "*";
    private const int MostRules = 10_000;

    private readonly Dictionary<string, Rule> _rules;

    private TopicRules(Dictionary<string, Rule> rules, string path)
    {
        _rules = rules;
        Source = $"the rules in {path} as they were when the service started";
    }

    public string Source { get; }

    /// <exception cref="QuickSilverOptionsException">The file cannot be read, or has no rules.</exception>
    public static TopicRules Read(string path)
    {
        try
        {
            return Parse(CredentialFiles.ReadText(path), path);
        }
        catch (Exception exception) when (exception is CredentialException or JsonException or InvalidOperationException)
        {
            string option = $"{MembershipOptions.HostedKey}:{nameof(EmbeddedServiceOptions.RightsFile)}";
            throw new QuickSilverOptionsException(
                $"The option {option} is \"{path}\", which cannot be used: {exception.Message.TrimEnd('.')}.", exception);
        }
    }

    /// <exception cref="JsonException">The text has no rules.</exception>
    public static TopicRules Parse(string text, string path)
    {
        using var document = JsonDocument.Parse(
            text, new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip, AllowTrailingCommas = true });
        var rules = new Dictionary<string, Rule>(StringComparer.Ordinal);
        if (document.RootElement.ValueKind != JsonValueKind.Object
            || !document.RootElement.TryGetProperty("rules", out var all)
            || all.ValueKind != JsonValueKind.Array)
        {
            throw new JsonException("it has no list \"rules\"");
        }

        CheckKeys(document.RootElement, ["rules"], "it");
        foreach (var one in all.EnumerateArray())
        {
            string topic = TextOf(one, "topic", rules.Count);
            CheckKeys(one, ["topic", "publish", "subscribe"], $"the rule of the topic \"{topic}\"");
            if (topic != EveryTopic && topic.Contains('*', StringComparison.Ordinal))
            {
                throw new JsonException($"the topic \"{topic}\" is neither a name, nor the beginning of names up to a slash, nor *");
            }

            var rule = new Rule(topic, NamesOf(one, "publish", topic), NamesOf(one, "subscribe", topic));
            if (!rules.TryAdd(topic, rule) || rules.Count > MostRules)
            {
                throw new JsonException(rules.Count > MostRules
                    ? $"it has more than {MostRules} rules"
                    : $"the topic \"{topic}\" has two rules");
            }
        }

        return new TopicRules(rules, path);
    }

    public bool IsRestricted(string topic) => RuleOf(topic) is { Publish.IsDefault: false };

    // The topics of one rule.
    public string? EnclosureOf(string topic) => RuleOf(topic) is { Subscribe.IsDefault: false } rule ? rule.Topic : null;

    public bool MayPublish(string identity, string topic) => RuleOf(topic) is not { } rule || Has(rule.Publish, identity);

    public bool MaySubscribe(string identity, string topic) => RuleOf(topic) is not { } rule || Has(rule.Subscribe, identity);

    private static bool Has(ImmutableArray<string> names, string identity) => names.IsDefault || names.Contains(identity);

    private Rule? RuleOf(string topic)
    {
        if (_rules.TryGetValue(topic, out var exact))
        {
            return exact;
        }

        for (int slash = topic.LastIndexOf('/'); slash >= 0; slash = slash == 0 ? -1 : topic.LastIndexOf('/', slash - 1))
        {
            if (_rules.TryGetValue(topic[..(slash + 1)], out var prefix))
            {
                return prefix;
            }
        }

        return _rules.GetValueOrDefault(EveryTopic);
    }

    private static string TextOf(JsonElement rule, string key, int index) =>
        rule.ValueKind == JsonValueKind.Object && rule.TryGetProperty(key, out var value) && value.ValueKind == JsonValueKind.String
            && value.GetString() is { Length: > 0 } text
            ? text
            : throw new JsonException($"rule {index + 1} has no text \"{key}\"");

    // A key that is written wrongly, or twice, would change who may do what without notice.
    private static void CheckKeys(JsonElement element, string[] known, string what)
    {
        var left = new HashSet<string>(known, StringComparer.Ordinal);
        foreach (var property in element.EnumerateObject())
        {
            if (!left.Remove(property.Name))
            {
                throw new JsonException(
                    $"{what} has the key \"{property.Name}\" {(known.Contains(property.Name) ? "twice" : "that is not known")}");
            }
        }
    }

    // Default: everybody. Both lists are required, so that none is forgotten.
    private static ImmutableArray<string> NamesOf(JsonElement rule, string key, string topic)
    {
        if (!rule.TryGetProperty(key, out var value) || value.ValueKind != JsonValueKind.Array)
        {
            throw new JsonException($"the rule of the topic \"{topic}\" has no list \"{key}\"; [\"*\"] means all identities, and [] none");
        }

        string[] names = [.. value.EnumerateArray().Select(static name => name.GetString() ?? "")];
        if (Array.Find(names, static name => name != Everybody && name.Contains('*', StringComparison.Ordinal)) is { } pattern)
        {
            throw new JsonException($"the rule of the topic \"{topic}\" has the identity \"{pattern}\"; identities are whole names, or *");
        }

        return names.Contains(Everybody) ? default : [.. names];
    }

    private sealed record Rule(string Topic, ImmutableArray<string> Publish, ImmutableArray<string> Subscribe);
}

// The rules of the program that hosts the service. What they throw denies the right, and is logged: nothing else would show it.
internal sealed class ProgramRights(ITopicRights rights, ILogger? log) : ITopicAccess
{
    private long _faults;

    public string Source => $"the rules of the program ({rights.GetType().Name})";

    public bool IsRestricted(string topic) => true;

    public string? EnclosureOf(string topic) => null;

    public bool MayPublish(string identity, string topic) =>
        Ask(static (rights, of) => rights.MayPublish(of.Identity, of.Topic), "publish in", identity, topic);

    public bool MaySubscribe(string identity, string topic) =>
        Ask(static (rights, of) => rights.MaySubscribe(of.Identity, of.Topic), "subscribe to", identity, topic);

    private bool Ask(
        Func<ITopicRights, (string Identity, string Topic), bool> question, string right, string identity, string topic)
    {
        try
        {
            return question(rights, (identity, topic));
        }
        catch (Exception exception)
        {
            if (RepeatedEvent.IsLogged(++_faults) && log is not null)
            {
                log.RightsThrew(exception, rights.GetType().Name, identity, right, topic, _faults);
            }

            return false;
        }
    }
}
