using Microsoft.CodeAnalysis;

namespace QuickSilver.Generators.Reading;

// Something about a contract that the analyzer reports and the generator stops at.
internal sealed class Problem(DiagnosticDescriptor rule, ISymbol symbol, params string[] arguments)
{
    public string Text => string.Format(rule.MessageFormat.ToString(), arguments);

    public Diagnostic ToDiagnostic() =>
        Diagnostic.Create(rule, symbol.Locations.FirstOrDefault(location => location.IsInSource) ?? Location.None, arguments);
}
